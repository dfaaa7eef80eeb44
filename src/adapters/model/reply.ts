import { randomUUID } from 'node:crypto';
import type { AssistantMessage, AssistantMessageEvent } from '@earendil-works/pi-ai';
import { LIMITS } from '../../kernel/limits.ts';
import type { Model, ModelCall, ModelReply, ModelUsage } from '../../ports/model.ts';
import type { OwnEnd } from './fault.ts';
import { priced, type Price } from './price.ts';

type Live = Parameters<Model['call']>[1];

const UNREPORTED = 'unreported';
const NAME_CHARS_MAX = 200;
const BYTES_PER_TOKEN = 4;
const FAULTY_FINISHES: ReadonlySet<string> = new Set([
  'content_filter',
  'refusal',
  'sensitive',
  'network_error',
  'error',
]);
/** What the output limit is called where the library does not know it. */
const LIMIT_FINISHES: ReadonlySet<string> = new Set([
  'max_tokens',
  'model_context_window_exceeded',
]);

/** Follows one streamed reply: passes on what is live, keeps what the library drops, counts. */
export class ReplyReader {
  /** True once an event of the stream was read. */
  hasBegun = false;
  readonly #provider: string;
  readonly #live: Live;
  readonly #onToken: () => void;
  readonly #onLimit: (why: OwnEnd) => void;
  /** The raw text of arguments by the place of the call's block: the library repairs and parses it. */
  readonly #args = new Map<number, string>();
  #model: string | null = null;
  #bytes = 0;

  constructor(
    provider: string,
    live: Live,
    told: { readonly onToken: () => void; readonly onLimit: (why: OwnEnd) => void },
  ) {
    this.#provider = provider;
    this.#live = live;
    this.#onToken = told.onToken;
    this.#onLimit = told.onLimit;
  }

  /** Takes an event of the stream as the provider sent it. */
  note(data: unknown): void {
    this.hasBegun = true;
    if (this.#model !== null) return;
    const model = nameFrom(modelNamed(data));
    if (model === '') return;
    this.#model = model;
    this.#live.onModel(this.#provider, model);
  }

  /** Takes an event as the library understood it. */
  piece(event: AssistantMessageEvent): void {
    if (event.type === 'text_delta') this.#live.onText(event.delta);
    if (event.type === 'toolcall_start') {
      this.#onToken();
      this.#args.set(event.contentIndex, '');
      if (this.#args.size > LIMITS.modelCallsPerReplyMax) this.#onLimit('too_many_calls');
    }
    if (event.type === 'toolcall_delta') {
      this.#args.set(event.contentIndex, this.#argsAt(event.contentIndex) + event.delta);
    }
    if ('delta' in event) this.#count(event.delta);
  }

  /** The reply that the whole message is; `requestBytes` stands in for a usage that was not reported. */
  reply(message: AssistantMessage, price: Price | undefined, requestBytes: number): ModelReply {
    const calls = this.#callsOf(message);
    return {
      kind: 'reply',
      provider: this.#provider,
      model: this.#model ?? UNREPORTED,
      text: textOf(message),
      calls,
      stop: isCutAtLimit(message) ? 'length' : calls.length > 0 ? 'calls' : 'end',
      usage: usageOf(message, price) ?? this.#estimate(price, requestBytes),
    };
  }

  #count(delta: string): void {
    this.#onToken();
    this.#bytes += Buffer.byteLength(delta);
    if (this.#bytes > LIMITS.modelReplyBytesMax) this.#onLimit('too_large');
  }

  /** Ids are made where a server gives none, or the same to two. */
  #callsOf(message: AssistantMessage): ModelCall[] {
    const seen = new Set<string>();
    return message.content.flatMap((block, index) => {
      if (block.type !== 'toolCall') return [];
      const isUsable = block.id !== '' && !seen.has(block.id);
      const id = isUsable ? block.id : `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
      seen.add(id);
      const raw = this.#argsAt(index);
      return [{ id, name: block.name, args: raw.trim() === '' ? '{}' : raw }];
    });
  }

  #argsAt(index: number): string {
    return this.#args.get(index) ?? '';
  }

  #estimate(price: Price | undefined, requestBytes: number): ModelUsage {
    const tokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);
    const counted = { input: tokens(requestBytes), output: tokens(this.#bytes) };
    return priced({ ...counted, cacheRead: 0, cacheWrite: 0 }, price);
  }
}

/**
 * True when the stream had its finish and only the word for it is one that the library does not
 * know (`eos`, `COMPLETE`, `max_tokens`). Such a reply is whole.
 */
export function isWhole(message: AssistantMessage): boolean {
  const finish = message.rawStopReason;
  return finish !== undefined && !FAULTY_FINISHES.has(finish);
}

/** The usage that was reported; null when none was, or none that can be. Cost is in millionths of a US dollar. */
export function usageOf({ usage }: AssistantMessage, price: Price | undefined): ModelUsage | null {
  const { input, output, cacheRead, cacheWrite } = usage;
  const isSaid = usage.totalTokens !== 0;
  return isSaid && [input, output, cacheRead, cacheWrite].every(isCount)
    ? priced(usage, price)
    : null;
}

/** Whole tokens, fewer than any call can have: budgets and windows are counted by them, and sums are stored. */
function isCount(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= LIMITS.grantMax.tokens;
}

function textOf(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function isCutAtLimit(message: AssistantMessage): boolean {
  return message.stopReason === 'length' || LIMIT_FINISHES.has(message.rawStopReason ?? '');
}

/** Where one format names it in each event, the other has it in the message that the first begins. */
function modelNamed(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  if ('model' in data && typeof data.model === 'string') return data.model;
  return 'message' in data ? modelNamed(data.message) : '';
}

function nameFrom(reported: string): string {
  return reported
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, NAME_CHARS_MAX);
}
