import type { OperationFault } from '../../core/maintenance/decide.ts';
import type { Exchange } from '../../core/maintenance/exchange.ts';
import { shownChars, takePiece, type Piece } from '../../core/maintenance/pieces.ts';
import type { OperationRecord, OperationWork } from '../../core/maintenance/record.ts';
import { charsFor, requestRoom } from '../../core/maintenance/size.ts';
import { judgeSummary, readSummary, writeWork } from '../../core/maintenance/summary.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { cutText } from '../../kernel/printable.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Model, ModelOutcome, ModelRequest, ModelUsage } from '../../ports/model.ts';
import { callWithin } from '../bounded-call.ts';
import type { EngineParts } from '../engine.ts';
import { chainOf } from '../session/agent.ts';
import { CONTEXT_TOO_LONG } from '../turn/call.ts';
import { heard } from './heard.ts';
import { saveWork } from './progress.ts';
import { readRange } from './range.ts';
import { summaryRequest } from './request.ts';
import { summaryMax, type Scene } from './scene.ts';

/** What the calls of a summary used. */
export interface SummarySpent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

export const NOTHING_USED: SummarySpent = { inputTokens: 0, outputTokens: 0, cost: 0 };

/** Where a summary came to: whole, or to the fault that ended the try. `spent` since what was saved last. */
export type Summarised =
  | { readonly kind: 'whole'; readonly work: OperationWork; readonly spent: SummarySpent }
  | {
      readonly kind: 'failed';
      readonly fault: OperationFault;
      readonly retryAt: Instant | null;
      readonly spent: SummarySpent;
    }
  /** The operation is somebody else's, or over: nothing is recorded. */
  | { readonly kind: 'gone' };

// Beside the piece itself: the prompt, and what a provider wraps around it.
const PROMPT_CHARS = 4_000;
const PIECE_CHARS_MIN = 1_000;
const PIECE_CHARS_MAX = 120_000;
const TEXT_CHARS = LIMITS.summaryTextChars;

/**
 * Makes the summary of everything up to `work.cutSeq` by calls of the summary model apart from the session,
 * in pieces that it can hold; each piece is saved, so that a failure costs what came after it (M-14, M-19).
 * Nothing of the session changes here.
 */
export async function summarise(
  parts: EngineParts,
  scene: Scene,
  { operation, work }: { readonly operation: OperationRecord; readonly work: OperationWork },
  signal: AbortSignal,
): Promise<Summarised> {
  const writer = new Writer(parts, scene, operation, signal);
  return writer.write(work);
}

class Writer {
  readonly #parts: EngineParts;
  readonly #scene: Scene;
  readonly #operation: OperationRecord;
  readonly #signal: AbortSignal;
  readonly #charsMax: number;
  #spent = NOTHING_USED;

  constructor(parts: EngineParts, scene: Scene, operation: OperationRecord, signal: AbortSignal) {
    this.#parts = parts;
    this.#scene = scene;
    this.#operation = operation;
    this.#signal = signal;
    // What is written stands in the request of the next piece too.
    const share = Math.floor(charsFor(requestRoom(parts.summary.contextWindow)) / 4);
    this.#charsMax = Math.min(summaryMax(scene, operation), Math.max(PIECE_CHARS_MIN, share));
  }

  async write(from: OperationWork): Promise<Summarised> {
    let work = from;
    let ahead: readonly Exchange[] = [];
    let next: number | null = work.doneSeq;
    for (;;) {
      while (next !== null && shownChars(ahead, TEXT_CHARS) < this.#pieceChars(work)) {
        if (ahead.length > 0) await this.#parts.clock.sleep(0, this.#signal);
        const page = await this.#read(next, work.cutSeq);
        ahead = [...ahead, ...page.exchanges];
        next = page.next;
      }
      const piece = takePiece(ahead, {
        charsMax: this.#pieceChars(work),
        textChars: TEXT_CHARS,
      });
      if (piece === undefined) break;
      const made = await this.#call(work.summary, piece.text);
      if (made.kind === 'failed') return { ...made, spent: this.#spent };
      const conditions = await this.#heard(work, piece);
      work = { ...work, doneSeq: piece.upTo, summary: made.summary, conditions };
      ahead = ahead.filter(({ lastSeq }) => lastSeq > piece.upTo);
      if (ahead.length === 0 && next === null) break;
      if (!(await this.#save(work))) return { kind: 'gone' };
    }
    return { kind: 'whole', work: { ...work, doneSeq: work.cutSeq }, spent: this.#spent };
  }

  #heard({ conditions }: OperationWork, { said }: Piece): ReturnType<typeof heard> {
    return heard(this.#parts, conditions, said, this.#scene.free);
  }

  async #read(after: number, upTo: number): ReturnType<typeof readRange> {
    const { conversation, session } = this.#scene;
    const of = { conversationId: conversation.id, sessionId: session.id };
    return readRange(this.#parts, { ...of, after, upTo });
  }

  async #save(work: OperationWork): Promise<boolean> {
    const spent = this.#spent;
    this.#spent = NOTHING_USED;
    return saveWork(this.#parts, this.#operation, { work: writeWork(work), spent });
  }

  #pieceChars({ summary }: OperationWork): number {
    return this.#fitted(this.#room - this.#shown(summary).length);
  }

  /** The earlier summary as it is shown: whole, unless a model with a larger window wrote it. */
  #shown(summary: string): string {
    return cutText(summary, this.#fitted(this.#room / 2));
  }

  /** Characters that the summary model has for what it is shown. */
  get #room(): number {
    return charsFor(requestRoom(this.#parts.summary.contextWindow)) - PROMPT_CHARS;
  }

  /** Less after each failure of a piece that was too long for the summary model (M-19). */
  #fitted(room: number): number {
    const { code } = readObject(this.#operation.fault);
    const halvings = code === CONTEXT_TOO_LONG ? this.#operation.failures : 0;
    const chars = Math.min(room, PIECE_CHARS_MAX) / 2 ** halvings;
    return Math.max(PIECE_CHARS_MIN, Math.floor(chars));
  }

  async #call(
    earlier: string,
    piece: string,
  ): Promise<
    | { readonly kind: 'made'; readonly summary: string }
    | {
        readonly kind: 'failed';
        readonly fault: OperationFault;
        readonly retryAt: Instant | null;
      }
  > {
    const shown = this.#shown(earlier);
    const request = summaryRequest({ earlier: shown, piece, charsMax: this.#charsMax });
    const outcome = await this.#ask(request);
    if (outcome.kind === 'fault') {
      const { code, message, retryAt } = outcome;
      const said = outcome.class === 'aborted' ? '' : message.slice(0, LIMITS.providerWordsMax);
      return { kind: 'failed', fault: { code, said }, retryAt };
    }
    const read = readSummary(outcome.text, outcome.stop === 'length');
    if (read.kind === 'invalid')
      return { kind: 'failed', fault: { code: read.code, said: read.said }, retryAt: null };
    const fault = judgeSummary(read.summary, { charsMax: this.#charsMax });
    if (fault !== undefined) return { kind: 'failed', fault, retryAt: null };
    return { kind: 'made', summary: read.summary };
  }

  /** The summary model, then each fallback of the conversation once, in order (T-13). */
  async #ask(request: ModelRequest): Promise<ModelOutcome> {
    const [first, ...others] = candidates(this.#parts, this.#scene);
    let outcome = await this.#once(first, request);
    for (const model of others) {
      if (!mayAskNext(outcome)) return outcome;
      outcome = await this.#once(model, request);
    }
    return outcome;
  }

  async #once(model: Model, request: ModelRequest): Promise<ModelOutcome> {
    const bound = { ms: LIMITS.summaryCallMs, signal: this.#signal };
    const outcome = await callWithin(this.#parts, model, request, bound);
    this.#spent = addUsage(this.#spent, outcome.usage);
    return outcome;
  }
}

function candidates(parts: EngineParts, { conversation }: Scene): readonly [Model, ...Model[]] {
  const { summary } = parts;
  const [, ...fallbacks] = chainOf(parts, conversation);
  return [summary, ...fallbacks.filter((model) => model !== summary)];
}

/** A wait that the provider names is kept, and a piece that is too long is made shorter. */
function mayAskNext(outcome: ModelOutcome): boolean {
  if (outcome.kind === 'reply' || outcome.class === 'aborted') return false;
  return outcome.retryAt === null && outcome.code !== CONTEXT_TOO_LONG;
}

function addUsage(spent: SummarySpent, usage: ModelUsage | null): SummarySpent {
  if (usage === null) return spent;
  return {
    inputTokens: spent.inputTokens + usage.inputTokens,
    outputTokens: spent.outputTokens + usage.outputTokens,
    cost: spent.cost + (usage.cost ?? 0),
  };
}
