/** How a strict provider looks at a request: its size, and whether calls and results come in pairs. */

/** Characters of a request that count as one token: of its text, whatever is in it. */
export const STRICT_CHARS_PER_TOKEN = 4;

/** What a text counts; one that is not empty counts at least one. */
export function strictTokens(text: string): number {
  return Math.ceil(text.length / STRICT_CHARS_PER_TOKEN);
}

/** A piece of a conversation as far as pairs go. */
export type PairPiece =
  | { readonly kind: 'calls'; readonly ids: readonly string[] }
  /** `isMade`: nobody said it; whoever sent the request filled a gap with it. */
  | { readonly kind: 'result'; readonly id: string; readonly isMade?: boolean }
  | { readonly kind: 'words' };

export interface Unpaired {
  /** `call`: without its result right behind it. `result`: without its call right before it. */
  readonly what: 'call' | 'result';
  readonly ids: readonly string[];
  /** Which piece it is. */
  readonly at: number;
}

/** The first call or result that stands alone; undefined where each has its other half, once and next to it. */
export function unpairedIn(pieces: readonly PairPiece[]): Unpaired | undefined {
  let open = new Set<string>();
  let calledAt = 0;
  for (const [at, piece] of pieces.entries()) {
    if (piece.kind === 'result') {
      if (piece.isMade === true) return { what: 'call', ids: [piece.id], at: calledAt };
      if (!open.delete(piece.id)) return { what: 'result', ids: [piece.id], at };
      continue;
    }
    if (open.size > 0) return { what: 'call', ids: [...open], at: calledAt };
    if (piece.kind === 'calls') {
      open = new Set(piece.ids);
      calledAt = at;
    }
  }
  return open.size > 0 ? { what: 'call', ids: [...open], at: calledAt } : undefined;
}
