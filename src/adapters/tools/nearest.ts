const CHARS_MAX = 64;

/** The known name with the fewest edits to `wanted`, so that a slip of the pen names its remedy. */
export function nearest(wanted: string, known: readonly string[]): string | undefined {
  const word = wanted.slice(0, CHARS_MAX).toLowerCase();
  return known
    .map((name) => ({ name, edits: editsBetween(word, name) }))
    .toSorted((a, b) => a.edits - b.edits)[0]?.name;
}

function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = (row[j - 1] ?? 0) + (a[i] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
