/** A slip of the fingers changes about this share of a name; further away is another name. */
const FARTHEST_SHARE = 0.4;

/** The known name that `given` was most likely meant to be, or undefined when none is near. */
function nearest(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const name of known) {
    const distance = distanceOf(given.toLowerCase(), name.toLowerCase());
    if (distance < least) [best, least] = [name, distance];
  }
  const most = best === undefined ? 0 : Math.max(given.length, best.length) * FARTHEST_SHARE;
  return least <= Math.max(1, most) ? best : undefined;
}

/** `, did you mean …?`, or nothing: the end of a sentence about an unknown name. */
export function suggestion(given: string, known: Iterable<string>): string {
  const near = nearest(given, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Insertions, removals and exchanges of one character each, and swaps of two neighbours. */
function distanceOf(from: string, to: string): number {
  const table = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const cell = (line: number, column: number): number => table[line]?.[column] ?? Infinity;
  for (let line = 1; line <= from.length; line += 1) {
    const row = [line];
    table.push(row);
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[line - 1] === to[column - 1];
      const swapped = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      row[column] = Math.min(
        cell(line - 1, column) + 1,
        cell(line, column - 1) + 1,
        cell(line - 1, column - 1) + (same ? 0 : 1),
        swapped ? cell(line - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return cell(from.length, to.length);
}
