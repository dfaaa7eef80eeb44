import type { Exchange } from './exchange.ts';

/** Up to `cutSeq` a summary stands for a session; what is behind it, `keptChars` large, is kept word for word. */
export interface Cut {
  readonly cutSeq: number;
  readonly keptChars: number;
}

/**
 * Where a session is cut: the newest exchanges within `keepChars` characters stay, whole (M-17), and at
 * least the oldest one goes. Undefined where there is none.
 */
export function planCut(exchanges: readonly Exchange[], keepChars: number): Cut | undefined {
  let keptChars = 0;
  for (const [index, { lastSeq, chars }] of [...exchanges.entries()].toReversed()) {
    if (index === 0 || keptChars + chars > keepChars) return { cutSeq: lastSeq, keptChars };
    keptChars += chars;
  }
  return undefined;
}
