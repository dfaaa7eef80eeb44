// Every call that the upkeep of a session makes to a model or a runtime, judged at the moment at which it is
// made: it is of an operation's own reserved step, and of one that may be made (M-2, M-6, V5, V7).
import { isRepeatable } from '../../src/core/maintenance/decide.ts';
import type { OperationRecord, OperationStep } from '../../src/core/maintenance/record.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Look } from './look.ts';
import { markersIn } from './script.ts';
import type { Sometime } from './sometimes.ts';

/** A call of the summary model, or of a runtime. */
export type UpkeepCallKind = 'summary' | 'compact' | 'summarise' | 'rotate' | 'seed';

export interface UpkeepCall {
  readonly host: string;
  readonly kind: UpkeepCallKind;
  /** The model that is called; empty of a runtime. */
  readonly model: string;
  /** Empty where no reserved step has been found for it. */
  readonly operationId: string;
  readonly tried: Tried | undefined;
  /** No other try can have made it. */
  readonly isSure: boolean;
}

/** A try, as it was reserved. */
interface Tried {
  readonly host: string;
  readonly row: OperationRecord;
  /** Not recorded by anybody yet. */
  isOut: boolean;
  /** A model or a runtime was really called. */
  isMade: boolean;
  /** Whoever has come to nothing in it is not called for it again. */
  readonly failed: Set<string>;
}

/** Who is called, and with what. */
type Called =
  | { readonly model: string; readonly request: ModelRequest }
  /** A step of a runtime names its session. */
  | { readonly session: string };

export interface OperationBookParts {
  readonly look: Look;
  readonly isAlive: (host: string) => boolean;
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
  /** No host can sleep while another takes its work over. */
  readonly isAlone: boolean;
  readonly native: boolean;
}

export class OperationBook {
  readonly #parts: OperationBookParts;
  /** The last try of each operation by each host. */
  readonly #tries = new Map<string, Tried>();
  readonly #out = new Set<UpkeepCall>();
  /** Uncertain steps that were called and have not been recorded as done. */
  readonly #uncertain = new Set<string>();
  readonly #said = new Set<string>();
  #words = 0;
  /** Calls so far. */
  count = 0;

  constructor(parts: OperationBookParts) {
    this.#parts = parts;
  }

  /** Whether anything was called in the try of an operation that is out. */
  wasMade(id: string): boolean {
    return [...this.#tries.values()].some(
      (tried) => tried.row.id === id && tried.isOut && tried.isMade,
    );
  }

  /** Something that no other summary says. */
  nextWords(): string {
    this.#words += 1;
    const words = `number ${this.#words} of this world`;
    this.#said.add(words);
    return words;
  }

  /** Whether a summary was really given by somebody (M-14). */
  wasSaid(summary: string): boolean {
    return [...this.#said].some((words) => summary.includes(words));
  }

  /** A try was committed. */
  reserved(host: string, row: OperationRecord): void {
    this.#tries.set(`${host} ${row.id}`, {
      host,
      row,
      isOut: true,
      isMade: false,
      failed: new Set(),
    });
  }

  /** What a try came to was committed, by whomever. */
  closed(row: OperationRecord, before: OperationRecord): void {
    // One that is given up between its reservation and its call may still call once.
    const isOut = row.state === 'dropped';
    for (const tried of this.#tries.values()) if (tried.row.id === row.id) tried.isOut = isOut;
    const hasPassed = row.failures === before.failures && row.state !== 'blocked';
    if (hasPassed) this.wasDone(before);
  }

  /** Its step is known to have been done: nothing of it is uncertain. */
  wasDone({ id, epoch, step }: OperationRecord): void {
    this.#uncertain.delete(`${id} ${epoch} ${step}`);
  }

  begin(host: string, kind: UpkeepCallKind, called: Called): UpkeepCall {
    this.count += 1;
    const { tried, isSure } = this.#triedBy(host, kind, called);
    const model = 'model' in called ? called.model : '';
    const call = { host, kind, model, operationId: tried?.row.id ?? '', tried, isSure };
    this.#out.add(call);
    if (tried === undefined) {
      this.#parts.problem(`V7 ${host} made a ${kind} for no reserved step`);
      return call;
    }
    this.#judge(call, tried);
    tried.isMade = true;
    return call;
  }

  end(call: UpkeepCall, outcome: ModelOutcome | 'done' | 'failed'): void {
    this.#out.delete(call);
    const isDone = typeof outcome === 'string' ? outcome === 'done' : outcome.kind === 'reply';
    // A piece that anybody has made is saved, and the next may be anybody's again (T-13).
    if (isDone) call.tried?.failed.clear();
    else if (call.isSure) call.tried?.failed.add(call.model);
  }

  /** Whether this host has made a try of which it has not recorded what it came to. */
  isOut(host: string): boolean {
    return [...this.#tries.values()].some((tried) => tried.host === host && tried.isOut);
  }

  #judge({ kind, host, model, isSure }: UpkeepCall, { row, isOut, failed }: Tried): void {
    const { problem, isAlone, native } = this.#parts;
    const { id, step, epoch, attempts } = row;
    if (!isOut && isAlone) problem(`V7 ${host} made a ${kind} of ${id} when its try was over`);
    if (isSure && failed.has(model))
      problem(`V5 try ${attempts} of ${id} called ${model} again after it had failed`);
    if (!fits(kind, step)) problem(`V7 ${host} made a ${kind} in the step ${step} of ${id}`);
    this.#judgeCrowd(host);
    if (kind === 'summary' || isRepeatable(step, native ? 'native' : 'built-in')) return;
    const key = `${id} ${epoch} ${step}`;
    if (this.#uncertain.has(key)) problem(`M-6 the uncertain ${step} of ${id} is made again`);
    this.#uncertain.add(key);
  }

  #judgeCrowd(host: string): void {
    const others = new Set(
      [...this.#out].filter((one) => one.host === host && this.#parts.isAlive(host)),
    );
    const operations = new Set([...others].map(({ operationId }) => operationId));
    if (operations.size > LIMITS.maintenanceAtOnce)
      this.#parts.problem(`M-8 ${host} maintains ${operations.size} sessions at once`);
  }

  /**
   * The try that the call is of: the host's own that is out, told apart by whose words it is shown. A
   * piece that shows nobody's words may be of any of several: of which model had failed then nothing is said.
   */
  #triedBy(
    host: string,
    kind: UpkeepCallKind,
    called: Called,
  ): { readonly tried: Tried | undefined; readonly isSure: boolean } {
    const own = [...this.#tries.values()].filter((tried) => tried.host === host);
    const out = own.filter(({ isOut, row }) => isOut && fits(kind, row.step));
    // A host that slept may call for what others have meanwhile given up.
    const able = out.length > 0 || this.#parts.isAlone ? out : own;
    if ('session' in called) {
      const isOf = ({ row }: Tried): boolean =>
        [row.sessionId, row.nextSessionId].some((id) => id === called.session);
      return { tried: able.findLast(isOf), isSure: true };
    }
    const conversations = this.#conversationsOf(called.request);
    const named = able.filter(({ row }) => conversations.has(row.conversationId));
    const likely = named.length > 0 ? named : able;
    // Of several that nothing tells apart, one that may still call.
    const rest = likely.filter(({ failed }) => !failed.has(called.model));
    const isSure = likely.length === 1;
    return { tried: (isSure || rest.length === 0 ? likely : rest).at(-1), isSure };
  }

  #conversationsOf({ messages }: ModelRequest): ReadonlySet<string | undefined> {
    const texts = messages.map(({ text }) => text);
    const markers = texts.flatMap((text) => markersIn(text)).slice(0, 3);
    return new Set(markers.map((marker) => this.#parts.look.conversationOf(marker)));
  }
}

/** Whether a handover has made some of its steps, and the next is to come. */
export function isBetween({ kind, step }: OperationRecord): boolean {
  return kind === 'handover' && step !== 'summarise';
}

function fits(kind: UpkeepCallKind, step: OperationStep): boolean {
  return kind === 'summary' ? step === 'compact' || step === 'summarise' : kind === step;
}
