// Two readings of a shell command. The strict one knows a command only when no shell could read it
// otherwise; the wide one finds whatever the command could name, and more.

/** Outside quotes only what no shell takes for anything but itself; in double quotes nothing that is looked into. */
const SIMPLE = /[ \t]+|(?:[\w@%+=:,./-]|'[^'\p{Cc}]*'|"[^"$`\\!\p{Cc}]*")+/gu;
const QUOTED = /'([^']*)'|"([^"]*)"/g;
/** A first word with `=` is an assignment, and some shells know more such forms. */
const PROGRAM = /^[\w@%+:,./-]+$/;

/**
 * The words of a command that is one program with its arguments, free of anything that a shell
 * expands, joins, redirects or runs; undefined for every other.
 */
export function simpleWords(command: string): readonly string[] | undefined {
  const pieces = command.match(SIMPLE) ?? [];
  if (pieces.join('') !== command) return undefined;
  const words = pieces
    .filter((piece) => !/^[ \t]/.test(piece))
    .map((piece) => piece.replaceAll(QUOTED, (_, one?: string, two?: string) => one ?? two ?? ''));
  return PROGRAM.test(words[0] ?? '') ? words : undefined;
}

/** A quoted text is a word, and may be a command by itself (`sh -c '…'`), so deep. */
const DEPTH_MAX = 3;
const BETWEEN_WORDS = /[\s;&|<>(){}`]/;

/** Every word that a command could name something with, each once, in order. */
export function wordsIn(command: string): readonly string[] {
  const found = new Set<string>();
  collect(command, DEPTH_MAX, found);
  return [...found];
}

function collect(text: string, depth: number, found: Set<string>): void {
  for (const word of split(text)) {
    found.add(word);
    const value = word.slice(word.indexOf('=') + 1);
    if (value !== word && value !== '') found.add(value);
    if (depth > 0 && word !== text && /[\s;&|<>(){}`'"]/.test(word)) {
      collect(word, depth - 1, found);
    }
  }
}

const PIECE = /'[^']*'?|"(?:\\[^]|[^"\\])*"?|\\[^]?|[\s;&|<>(){}`]|[^'"\\\s;&|<>(){}`]+/g;

function split(text: string): readonly string[] {
  const words = [''];
  for (const [piece] of text.matchAll(PIECE)) {
    if (BETWEEN_WORDS.test(piece[0] ?? '')) words.push('');
    else words.push((words.pop() ?? '') + meantBy(piece));
  }
  return words.filter((word) => word !== '');
}

/** A piece without its quotes. */
function meantBy(piece: string): string {
  const quote = piece[0];
  if (quote !== "'" && quote !== '"') return unescaped(piece);
  const isClosed = piece.length > 1 && piece.endsWith(quote);
  const inner = piece.slice(1, isClosed ? -1 : undefined);
  return quote === '"' ? unescaped(inner) : inner;
}

/** A line that goes on after its end is one line. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([^]?)/g, (_, char: string) => (char === '\n' ? '' : char));
}

/** Further parts of a word by which programs are given paths: `@file`, `host:file`, `a,b`, `-Ifolder`. */
export function partsOf(word: string): readonly string[] {
  const parts = word.split(/[:,@]/);
  const glued = /^-[A-Za-z](.+)$/s.exec(word)?.[1];
  return [...parts, ...(glued === undefined ? [] : [glued])].filter(
    (part) => part !== '' && part !== word,
  );
}

const PATH_CHARS = /^[\p{L}\p{N}_@%+,. /-]+$/u;

/** True for a word that is hardly anything but a path, though nothing may be there. */
export function looksLikePath(word: string): boolean {
  if (word.startsWith('-') || !PATH_CHARS.test(word)) return false;
  return word.includes('/') || /[^.]\.[A-Za-z]\w{0,9}$/.test(word);
}
