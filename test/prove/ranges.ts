// Ranges of numbered pieces: which were run, and which are left.

export interface Range {
  readonly from: number;
  readonly count: number;
}

/** The ranges with one more, sorted, those that touch or overlap made one. */
export function rangesWith(ranges: readonly Range[], range: Range): readonly Range[] {
  const sorted = [...ranges, range].toSorted((a, b) => a.from - b.from);
  const merged: Range[] = [];
  for (const next of sorted) {
    const last = merged.at(-1);
    if (last === undefined || next.from > last.from + last.count) merged.push(next);
    else {
      const end = Math.max(last.from + last.count, next.from + next.count);
      merged[merged.length - 1] = { from: last.from, count: end - last.from };
    }
  }
  return merged;
}

/** What of `wanted` was not run, in chunks of at most `chunk` pieces. */
export function chunksLeft(wanted: Range, done: readonly Range[], chunk: number): readonly Range[] {
  const left: Range[] = [];
  let at = wanted.from;
  const end = wanted.from + wanted.count;
  for (const range of rangesWith(done, { from: end, count: 0 })) {
    const until = Math.min(range.from, end);
    while (at < until) {
      const count = Math.min(chunk, until - at);
      left.push({ from: at, count });
      at += count;
    }
    at = Math.max(at, range.from + range.count);
  }
  return left;
}
