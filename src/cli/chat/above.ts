import { stripVTControlCharacters } from 'node:util';

const ESCAPE = '\u001B';
const TAB_COLUMNS = 8;
/** Characters that take two columns: CJK, Hangul, full-width forms and pictures. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const NO_COLUMN = /\p{Mark}|\u200D/u;

export interface AboveParts {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  /** Rows between the first row of the input and the one with its cursor. */
  readonly cursorRow: () => number;
  /** Draws the prompt and the input again, from so many rows above on, with its cursor kept. */
  readonly redraw: () => void;
}

/**
 * Text above an input line. A row that is not whole yet stands above the input too and is written
 * again when more of it comes, so that what is typed never lands in it.
 */
export class Above {
  readonly #parts: AboveParts;
  /** What stands in the row that is not whole yet. */
  #tail = '';
  #isTailShown = false;

  constructor(parts: AboveParts) {
    this.#parts = parts;
  }

  /** Adds text; it need not end with a line. */
  put(text: string): void {
    const { write, columns, cursorRow, redraw } = this.#parts;
    const inputRow = cursorRow();
    const up = inputRow + (this.#isTailShown ? 1 : 0);
    const { rows, rest } = wrapRows(this.#tail + text, Math.max(columns() - 1, 1));
    this.#tail = rest;
    this.#isTailShown = rest !== '';
    const shown = [...rows, ...(rest === '' ? [] : [rest])].map((row) => `${row}\n`).join('');
    // The redraw goes up as far as the input's cursor stood below its first row.
    write(`\r${up > 0 ? `${ESCAPE}[${up}A` : ''}${ESCAPE}[J${shown}${'\n'.repeat(inputRow)}`);
    redraw();
  }

  /** The input became a line of its own: an unfinished row goes on, from its beginning, below it. */
  passed(): void {
    this.#isTailShown = false;
  }
}

/** Text in rows of at most `width` columns, broken at spaces; `rest` is the row that is not whole. */
export function wrapRows(
  text: string,
  width: number,
): { readonly rows: readonly string[]; readonly rest: string } {
  const lines = text.split('\n').map((line) => wrapLine(line, width));
  const last = lines.pop() ?? [''];
  return { rows: [...lines.flat(), ...last.slice(0, -1)], rest: last.at(-1) ?? '' };
}

function wrapLine(line: string, width: number): string[] {
  // A painted line is ours; to cut it would cut its colour.
  if (line.includes(ESCAPE)) return [line];
  const rows: string[] = [];
  let row = '';
  let taken = 0;
  for (const char of line) {
    const columns = columnsOf(char);
    if (taken + columns > width && char !== ' ') {
      const [whole, begun] = breakRow(row);
      rows.push(whole);
      row = begun;
      taken = widthOf(row);
    }
    row += char;
    taken += columns;
  }
  return [...rows, row];
}

/** The row up to its last space, and what goes on below; a word that fills the row is cut. */
function breakRow(row: string): readonly [string, string] {
  const at = row.lastIndexOf(' ');
  const isIndent = row.slice(0, at + 1).trim() === '';
  return at === -1 || isIndent ? [row, ''] : [row.slice(0, at).trimEnd(), row.slice(at + 1)];
}

/** Columns that a text takes in a terminal, about. */
export function widthOf(text: string): number {
  let sum = 0;
  for (const char of stripVTControlCharacters(text)) sum += columnsOf(char);
  return sum;
}

function columnsOf(char: string): number {
  if (char === '\t') return TAB_COLUMNS;
  if (NO_COLUMN.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
