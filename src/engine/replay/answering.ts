import { ASKED } from '../../core/turn/decide.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { cutText } from '../../kernel/printable.ts';
import type { ModelUsage } from '../../ports/model.ts';
import type { ToolOutcome } from '../../ports/tools.ts';
import { assessmentOf, callOf, cutCall, fault, said, summaryOf } from './answers.ts';
import type { ReplayClock } from './clock.ts';
import { dataIn, wordIn, type Entry } from './entry.ts';
import type { Names } from './names.ts';
import type { OpenCall, Outside } from './outside.ts';
import type { Trace } from './trace.ts';

/** Where a replay stands. */
export interface Standing {
  readonly outside: Outside;
  /** Entries that were committed. */
  readonly place: number;
  /** The model step that is open, and how many of its calls were reserved. */
  readonly step: { readonly record: StepRecord; readonly tries: number } | undefined;
}

/** Entries that are looked ahead at: more than one commit has. */
const AHEAD = 200;

/** Answers calls to the outside with what the record has of them, each when its commit comes next. */
export class Answering {
  readonly #trace: Trace;
  readonly #names: Names;
  readonly #clock: ReplayClock;
  readonly #standing: () => Standing;

  constructor(trace: Trace, names: Names, clock: ReplayClock, standing: () => Standing) {
    this.#trace = trace;
    this.#names = names;
    this.#clock = clock;
    this.#standing = standing;
  }

  get #at(): Standing {
    return this.#standing();
  }

  /** What a turn of the conversation waits for, when the next commit is what it led to. */
  answerTurn(next: Entry): boolean {
    for (const open of this.#at.outside.open)
      if (open.kind === 'tool' ? this.#answerTool(open, next) : this.#answerModel(open, next))
        return true;
    return false;
  }

  /** What is asked of the outside and has no answer in the record, as a sentence. */
  unanswered(): readonly string[] {
    return this.#at.outside.open
      .filter(({ signal }) => !signal.aborted)
      .map((open) =>
        open.kind === 'tool'
          ? `It runs ${open.call.name} ${open.call.args}, which the record has not run here.`
          : `It asks a model (${open.role}), and the record has no answer here.`,
      );
  }

  #answerModel(open: Extract<OpenCall, { kind: 'model' }>, next: Entry): boolean {
    if (open.role !== 'turn' || this.#at.step === undefined) return false;
    const { record, tries } = this.#at.step;
    const { seq, outcome } = callOf(this.#trace, record, tries);
    if (outcome === null) {
      if (record.state !== 'cut' || !open.signal.aborted) return false;
      return this.#answered(open, () => open.answer(this.#translated(cutCall(record))));
    }
    if (seq === null || !this.#isNow(seq, next)) return false;
    // After a fault a pause comes before the next call: it has begun when the fault was there.
    if (outcome.kind === 'reply') this.#clock.at = next.at;
    return this.#answered(open, () => open.answer(this.#translated(outcome)));
  }

  #answerTool(open: Extract<OpenCall, { kind: 'tool' }>, next: Entry): boolean {
    const step = this.#trace.step(this.#names.recorded(open.call.stepId) ?? '');
    if (step === undefined || !this.#isOver(step, open.signal, next)) return false;
    this.#clock.at = next.at;
    const text = this.#names.translate(step.output ?? '');
    const outcome: ToolOutcome =
      step.state === 'finished'
        ? { kind: 'result', text }
        : { kind: 'error', code: step.errorCode ?? 'failed', text };
    return this.#answered(open, () => open.answer(outcome));
  }

  /** Whether a call has come to its end: one that was cut does so by its signal. */
  #isOver(step: StepRecord, signal: AbortSignal, next: Entry): boolean {
    if (step.finishedSeq === null || !hasRun(step)) return false;
    const isCut = step.state === 'cut' || step.state === 'uncertain';
    if (isCut) return signal.aborted && step.output !== null;
    return this.#isNow(step.finishedSeq, next);
  }

  #answered(open: OpenCall, answer: () => void): boolean {
    this.#at.outside.close(open);
    answer();
    return true;
  }

  /** Whether an entry is part of the next commit. */
  #isNow(seq: number, next: Entry): boolean {
    return seq === next.seq || this.#trace.entries[seq - 1]?.at === next.at;
  }

  #translated<T>(value: T): T {
    return JSON.parse(this.#names.translate(JSON.stringify(value))) as T;
  }

  /** Where a message went is recorded; which words led there is not. */
  classify(): boolean {
    const open = this.#openOf('classifier');
    if (open === undefined) return false;
    const { tasks, message } = readRequest(open.request.messages[0]);
    const found = this.#trace.recording.message.find(
      ({ seq, kind, claimedSeq, text }) =>
        kind === 'genuine' &&
        seq <= this.#at.place &&
        (claimedSeq === null || claimedSeq > this.#at.place) &&
        cutText(this.#names.translate(text), LIMITS.classifierTextChars) === message,
    );
    const used = this.#classifierUsage();
    const joined = tasks.find((id) => this.#names.recorded(id) === found?.taskId);
    const answer = JSON.stringify({ taskId: joined ?? null, reason: 'as recorded' });
    return this.#answered(open, () => open.answer(said(answer, used)));
  }

  /** The turn that is claimed next says what it cost to find its task. */
  #classifierUsage(): ModelUsage | null {
    const claimed = this.#trace.entries
      .slice(this.#at.place)
      .find(({ type }) => type === 'turn.started');
    const { classifier } = dataIn(claimed);
    if (!isObject(classifier)) return null;
    const inputTokens = Number(classifier['tokens'] ?? 0);
    return { inputTokens, outputTokens: 0, cost: Number(classifier['cost'] ?? 0) };
  }

  /** The host's own calls, which no step tells of. */
  answerAside(next: Entry): boolean {
    const assessment = this.#openOf('assessment');
    const ended = this.#ahead('assessment.ended', next);
    if (assessment !== undefined && ended !== undefined)
      return this.#answered(assessment, () => assessment.answer(assessmentOf(ended)));
    const summary = this.#openOf('summary');
    if (summary === undefined) return false;
    const moved = dataIn(this.#ahead('operation.moved', next));
    const operation = this.#trace.recording.operation.find(({ id }) => id === moved['operationId']);
    const outcome =
      typeof moved['code'] === 'string'
        ? fault('transient', moved['code'], '')
        : said(JSON.stringify({ summary: summaryOf(this.#trace, operation?.sessionId) }));
    return this.#answered(summary, () => summary.answer(outcome));
  }

  #ahead(type: string, next: Entry): Entry | undefined {
    return this.#trace.entries
      .slice(this.#at.place, this.#at.place + AHEAD)
      .find((entry) => entry.type === type && entry.at === next.at);
  }

  #openOf(role: string): Extract<OpenCall, { kind: 'model' }> | undefined {
    return this.#at.outside.open.find(
      (open) => open.kind === 'model' && open.role === role && !open.signal.aborted,
    ) as Extract<OpenCall, { kind: 'model' }> | undefined;
  }
}

/** A call that waited for a person, or stood behind one that did, was journalled and not made. */
function hasRun({ errorCode }: StepRecord): boolean {
  return errorCode !== ASKED && errorCode !== 'not_run';
}

function readRequest(message: { readonly text: string } | undefined): {
  readonly tasks: readonly string[];
  readonly message: string;
} {
  const parsed = parseJson(message?.text ?? '', LIMITS.jsonDepthMax);
  const request = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const { tasks } = request;
  const ids = (Array.isArray(tasks) ? tasks : []).map((task) =>
    isObject(task) ? wordIn(task, 'id') : '',
  );
  return { tasks: ids, message: wordIn(request, 'message') };
}
