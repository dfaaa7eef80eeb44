/** The candidate with the fewest typing slips from `word`; the first of equals. Needs a candidate. */
export function nearestWord<W extends string>(word: string, candidates: readonly [W, ...W[]]): W {
  let nearest = candidates[0];
  for (const candidate of candidates) {
    if (slips(word, candidate) < slips(word, nearest)) nearest = candidate;
  }
  return nearest;
}

/** Damerau and Levenshtein's count of letters left out, added, changed, or swapped with the next. */
export function slips(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change, swap));
    }
  }
  return at(a.length, b.length);
}
