import { cutText } from '../../kernel/printable.ts';
import { isoInstant } from '../../kernel/time.ts';
import { CUT, NOT_RUN, UNKNOWN_OUTCOME, type TranscriptItem } from '../turn/transcript.ts';
import type { Exchange, SaidWords } from './exchange.ts';

/** The next piece of a range that is summarised. */
export interface Piece {
  /** One JSON object a line, one line an item: nothing in it can look like a line of the host's own. */
  readonly text: string;
  /** The place up to which it goes; the next piece begins behind it. */
  readonly upTo: number;
  /** What persons said in it, exactly and whole, whatever `text` shows of it. */
  readonly said: readonly SaidWords[];
}

export interface PieceSize {
  readonly charsMax: number;
  /** Of one text; the rest stands in the transcript. */
  readonly textChars: number;
}

/**
 * The oldest of these exchanges as data for a summary: at least one, whole, and at most `charsMax`
 * characters. One that is larger by itself shows less of each of its texts. Undefined where there is none.
 */
export function takePiece(
  exchanges: readonly Exchange[],
  { charsMax, textChars }: PieceSize,
): Piece | undefined {
  const [first] = exchanges;
  if (first === undefined) return undefined;
  const shown = [shrunk(first, { charsMax, textChars })];
  let chars = shown[0]?.length ?? 0;
  const taken = [first];
  for (const exchange of exchanges.slice(1)) {
    const text = show(exchange, textChars);
    chars += text === '' ? 0 : text.length + 1;
    if (chars > charsMax) break;
    shown.push(text);
    taken.push(exchange);
  }
  return {
    text: shown.filter((text) => text !== '').join('\n'),
    upTo: taken.at(-1)?.lastSeq ?? first.lastSeq,
    said: taken.flatMap(({ said }) => said),
  };
}

/** About what these exchanges take in a piece, in characters: of each text what is shown of it. */
export function shownChars(exchanges: readonly Exchange[], textChars: number): number {
  const shown = (text: string): number => Math.min(text.length, textChars);
  return exchanges
    .flatMap(({ items }) => items)
    .reduce((sum, item) => {
      const calls = item.role === 'assistant' ? item.calls : [];
      return sum + shown(item.text) + calls.reduce((all, { args }) => all + shown(args), 0);
    }, 0);
}

/** The share of a text that is still shown when it was too much; what is left then is cut as it stands. */
const SHRINK = 0.5;
const TEXT_CHARS_MIN = 20;

function shrunk(exchange: Exchange, { charsMax, textChars }: PieceSize): string {
  let text = show(exchange, textChars);
  let kept = textChars;
  while (text.length > charsMax && kept > TEXT_CHARS_MIN) {
    kept = Math.max(TEXT_CHARS_MIN, Math.floor(kept * SHRINK));
    text = show(exchange, kept);
  }
  return cutText(text, charsMax);
}

function show({ items }: Exchange, textChars: number): string {
  return items.map((item) => JSON.stringify(lineOf(item, textChars))).join('\n');
}

function lineOf(item: TranscriptItem, textChars: number): object {
  const { role, taskId } = item;
  const head = { at: isoInstant(item.at), role, ...(taskId === null ? {} : { task: taskId }) };
  const text = part(item.text, textChars);
  if (item.role === 'user') return { ...head, text };
  if (item.role === 'tool') {
    return { ...head, tool: item.name, outcome: outcomeOf(item), result: text };
  }
  const calls = item.calls.map(({ name, args }) => ({ tool: name, args: part(args, textChars) }));
  return { ...head, text, ...(calls.length === 0 ? {} : { calls }) };
}

const OUTCOMES: Readonly<Record<string, string>> = {
  [UNKNOWN_OUTCOME]: 'unknown',
  [NOT_RUN]: 'not run',
  [CUT]: 'cut off',
};

/** A call that was only asked for is `finished`, and its result says that it waits. */
function outcomeOf({ isError, text }: Extract<TranscriptItem, { readonly role: 'tool' }>): string {
  if (!isError) return 'finished';
  return (Object.hasOwn(OUTCOMES, text) ? OUTCOMES[text] : undefined) ?? 'failed';
}

function part(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${cutText(text, max)} [cut: the whole text stands in the transcript]`;
}
