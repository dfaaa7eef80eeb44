// Every call of an assessment that reached its provider, judged at the moment at which it is made.
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { Look } from './look.ts';

export interface AssessmentCall {
  readonly host: string;
  /** Empty where the request does not tell. */
  readonly taskId: string;
  readonly signal: AbortSignal;
}

export interface AssessmentBookParts {
  readonly look: Look;
  readonly isAlive: (host: string) => boolean;
  readonly problem: (text: string) => void;
}

export class AssessmentBook {
  readonly #parts: AssessmentBookParts;
  /** How often each task was assessed. */
  readonly #made = new Map<string, number>();
  readonly #out = new Set<AssessmentCall>();
  count = 0;

  constructor(parts: AssessmentBookParts) {
    this.#parts = parts;
  }

  begin(host: string, request: ModelRequest, signal: AbortSignal): AssessmentCall {
    this.count += 1;
    const { look, problem } = this.#parts;
    const taskId = look.taskOf(markerOf(request)) ?? '';
    const call = { host, taskId, signal };
    this.#out.add(call);
    this.#judgeMany(host);
    if (request.tools.length > 0) problem(`R-2 an assessment of ${taskId} has tools`);
    const task = look.task(taskId);
    if (task === undefined) {
      problem(`R-2 an assessment names no task: ${JSON.stringify(request.messages).slice(0, 200)}`);
      return call;
    }
    // Of all epochs: a host that slept may make its call when an admin has opened the next.
    const { recoveryLifetimeAttempts: reserved } = task;
    const made = (this.#made.get(taskId) ?? 0) + 1;
    this.#made.set(taskId, made);
    if (made > reserved) problem(`V5 ${taskId} made ${made} calls and reserved ${reserved}`);
    if (task.enrollment !== 'current') problem(`B-5 the held ${taskId} is assessed`);
    return call;
  }

  end(call: AssessmentCall): void {
    this.#out.delete(call);
  }

  /** Whether an assessment of this host is out. */
  isOut(host: string): boolean {
    return [...this.#out].some((one) => one.host === host && !one.signal.aborted);
  }

  /** at most two at once. */
  #judgeMany(host: string): void {
    const { isAlive, problem } = this.#parts;
    // One that was given up is no longer waited for.
    const out = [...this.#out].filter(
      (one) => one.host === host && isAlive(host) && !one.signal.aborted,
    ).length;
    if (out > LIMITS.recoveryAtOnce) problem(`R-16 ${host} assesses ${out} tasks at once`);
  }
}

/** The marker of the request that is judged: the data quotes its task's mandate, and no id. */
function markerOf({ messages }: ModelRequest): string {
  const [first] = messages;
  const text = first?.role === 'user' ? first.text : '{}';
  const { request = '' } = JSON.parse(text) as { readonly request?: string };
  return /#\d+#/.exec(request)?.[0] ?? '';
}
