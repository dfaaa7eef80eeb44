import type { Exchange } from './exchange.ts';

/** Up to `cutSeq` a summary stands for a session; what is behind it, `keptChars` large, is kept word for word. */
export interface Cut {
  readonly cutSeq: number;
  readonly keptChars: number;
}

/** The most that is kept word for word. */
export interface Keep {
  readonly chars: number;
  /** Replies of the model and results of tools. */
  readonly steps: number;
}

/**
 * Where a session is cut: the newest exchanges within these bounds stay, whole (M-17), and at least the
 * oldest one goes. Undefined where there is none.
 */
export function planCut(exchanges: readonly Exchange[], keep: Keep): Cut | undefined {
  let kept: Keep = { chars: 0, steps: 0 };
  for (const [index, exchange] of [...exchanges.entries()].toReversed()) {
    const more = { chars: kept.chars + exchange.chars, steps: kept.steps + stepsIn(exchange) };
    const isOver = more.chars > keep.chars || more.steps > keep.steps;
    if (index === 0 || isOver) return { cutSeq: exchange.lastSeq, keptChars: kept.chars };
    kept = more;
  }
  return undefined;
}

function stepsIn({ items }: Exchange): number {
  return items.filter(({ role }) => role !== 'user').length;
}
