import { printable } from '../kernel/printable.ts';

const CELL_CHARS_MAX = 60;

/** Rows as aligned columns under their heads; the last column is not padded. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heads, ...rows].map((row) => row.map((text) => cell(text)));
  const widths = heads.map((_, column) =>
    Math.max(...cells.map((row) => widthOf(row[column] ?? ''))),
  );
  return cells
    .map((row) =>
      row
        .map((text, column) => pad(text, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cell(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, ' ').trim();
  const chars = Array.from(line);
  return chars.length <= CELL_CHARS_MAX ? line : `${chars.slice(0, CELL_CHARS_MAX - 1).join('')}…`;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function widthOf(text: string): number {
  return Array.from(text).length;
}
