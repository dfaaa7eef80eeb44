import { LIMITS } from '../../kernel/limits.ts';
import { firmnessOf, wordsOf } from './condition-phrases.ts';
import type { StandingCondition } from './record.ts';

/** Sentences that are kept of one message: a pasted document may hold hundreds. */
const FOUND_MAX = 12;

/**
 * The sentences of a person's message that set a standing condition ("ask me before you delete anything"),
 * in English or German, in their order and their own words; white space alone is made one. Quoted lines and
 * blocks of code are left out. At most `LIMITS.conditionChars` characters each, and a dozen.
 */
export function findConditions(text: string): readonly string[] {
  const found = paragraphsOf(text)
    .flatMap(sentencesOf)
    .map((sentence) => ({ sentence, firmness: firmnessOf(sentence) }))
    .filter(({ firmness }) => firmness !== undefined);
  const bound = firstOf(found, ({ firmness }) => firmness === 'binding');
  return bound.map(({ sentence }) => sentence);
}

/** A dozen, chosen from what binds first, in their order. */
function firstOf<T>(all: readonly T[], isFirm: (one: T) => boolean): readonly T[] {
  if (all.length <= FOUND_MAX) return all;
  const chosen = new Set([...all.filter(isFirm), ...all].slice(0, FOUND_MAX));
  return all.filter((one) => chosen.has(one));
}

/**
 * What was known and what was found since, in the order in which it was said last. What is said again is
 * one condition. Where there are more than `LIMITS.conditionsMax`, or than `charsMax` characters, the
 * oldest that binds least goes first.
 */
export function mergeConditions(
  known: readonly StandingCondition[],
  found: readonly StandingCondition[],
  charsMax = Number.POSITIVE_INFINITY,
): readonly StandingCondition[] {
  const merged = new Map<string, StandingCondition>();
  for (const condition of [...known, ...found]) {
    const key = wordsOf(condition.text).join(' ');
    merged.delete(key);
    merged.set(key, condition);
  }
  return firmest([...merged.values()], charsMax);
}

function firmest(
  all: readonly StandingCondition[],
  charsMax: number,
): readonly StandingCondition[] {
  const isFirm = ({ text }: StandingCondition): boolean => firmnessOf(text) === 'binding';
  const newest = all.toReversed();
  const ranked = [...newest.filter(isFirm), ...newest.filter((one) => !isFirm(one))];
  const kept = new Set<StandingCondition>();
  let chars = 0;
  for (const condition of ranked) {
    if (kept.size >= LIMITS.conditionsMax) break;
    if (chars + condition.text.length > charsMax) continue;
    chars += condition.text.length;
    kept.add(condition);
  }
  return all.filter((one) => kept.has(one));
}

const CODE = ['```', '~~~'];

/** Lines that belong together, as one line; a point of a list and a heading begin a new one. */
function paragraphsOf(text: string): readonly string[] {
  const paragraphs: string[] = [];
  let open = false;
  for (const line of outsideCode(text.split('\n'))) {
    const said = line.trim();
    const isQuote = said.startsWith('>');
    if (said === '' || isQuote) open = false;
    else if (open && !BULLET.test(said)) paragraphs.push(`${paragraphs.pop() ?? ''} ${said}`);
    else {
      paragraphs.push(said.replace(BULLET, ''));
      open = true;
    }
  }
  return paragraphs;
}

const BULLET = /^(?:[-*•–#]{1,6}|\d{1,3}[.)]) /;

/** A block that nothing closes is none: what follows its mark may be a person's words. */
function outsideCode(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const mark = CODE.find((one) => line.trimStart().startsWith(one));
    const end = mark === undefined ? -1 : closing(lines, mark, index + 1);
    kept.push(mark === undefined ? line : '');
    if (end > index) index = end;
  }
  return kept;
}

function closing(lines: readonly string[], mark: string, from: number): number {
  for (let index = from; index < lines.length; index += 1) {
    if (lines[index]?.trimStart().startsWith(mark) ?? false) return index;
  }
  return -1;
}

/** The sentences of a paragraph; a longer one than is kept of a condition is parted where a clause ends. */
function sentencesOf(paragraph: string): readonly string[] {
  const sentences: string[] = [];
  let words: string[] = [];
  let length = 0;
  const end = (): void => {
    if (words.length > 0) sentences.push(words.join(' '));
    [words, length] = [[], 0];
  };
  for (const word of paragraph.split(/\s+/).flatMap(parted)) {
    if (length + word.length > LIMITS.conditionChars) end();
    words.push(word);
    length += word.length + 1;
    if (endsSentence(word) || (length > CLAUSE_FROM && endsClause(word))) end();
  }
  end();
  return sentences;
}

/** From this length on a sentence is parted at the end of a clause. */
const CLAUSE_FROM = LIMITS.conditionChars / 2;

/** A word in pieces that are no longer than a condition may be. */
function parted(word: string): readonly string[] {
  const pieces = Math.ceil(word.length / LIMITS.conditionChars);
  return Array.from({ length: pieces }, (_, index) =>
    word.slice(index * LIMITS.conditionChars, (index + 1) * LIMITS.conditionChars).toWellFormed(),
  );
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(
  'e.g. i.e. etc. vs. mr. mrs. dr. no. approx. z.b. d.h. u.a. bzw. ca. nr. usw. ggf. evtl. inkl. max. min.'.split(
    ' ',
  ),
);

function endsSentence(word: string): boolean {
  const last = bare(word).at(-1) ?? '';
  if (last !== '.') return '!?;…'.includes(last) && last !== '';
  const said = bare(word).toLowerCase();
  return !ABBREVIATIONS.has(said) && !/^(?:\p{L}|\d{1,2})\.$/u.test(said);
}

function endsClause(word: string): boolean {
  return ',:–—'.includes(word.at(-1) ?? '-');
}

/** Without the quotation marks and brackets around a word, of which few matter. */
function bare(word: string): string {
  const [first, last] = [/^["'“„«»(]/.test(word) ? 1 : 0, /["'”“«»)]$/.test(word) ? 1 : 0];
  return word.slice(first, word.length - last);
}
