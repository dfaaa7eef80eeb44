/**
 * Phrases that set a standing condition, in English and German, word by word: `a|b` is either of them, `…`
 * allows others in between. Umlauts are written out.
 */

/** What is to be asked before it happens, or never to happen. */
const BINDING = [
  'never',
  'ask|asking|check|confirm|consult|tell|warn|notify|inform|show|run|clear … before|first|beforehand',
  'before … ask|check|confirm|consult|tell|warn|notify|inform|show|wait',
  'always ask|check|confirm|consult|wait|tell|warn',
  "not|nothing|none|nobody|no|don't|dont|doesn't|can't|won't|mustn't|shouldn't … without|unless|until|before",
  'without asking|checking|confirming|telling|confirmation|approval|permission|consent|my',
  'until|unless|before i|we',
  'wait for|until|till',
  'my|our|explicit|written … approval|permission|consent|confirmation|okay|ok|agreement',
  'must|may|shall|should not|never',
  "mustn't|shouldn't|shan't",
  'not|nothing|no allowed|permitted',
  'is|are not to',
  'read only',
  'readonly',
  'only|just read|reading|look|looking|draft|drafts|suggest|propose|report|list',
  'under|in no circumstances|circumstance|case|event',
  'at no time|point',
  'no matter what|how|who',
  'hands off',
  'off limits',
  'forbidden|prohibited|taboo|banned',
  'stay|keep away|out|off',
  'leave … alone|untouched',
  'delete|remove|send|write|change|modify|buy|order|pay|publish|post|touch|run|deploy nothing|none|no',
  'nie|niemals|keinesfalls|niemandem|niemanden',
  'auf|unter|in keinen|keinem|keinerlei fall|umstaenden|weise',
  'nicht|nichts|nie|kein|keine|keinen|keinem|keiner|keinerlei … ohne|bevor|bis|ausser|solange|ehe',
  'ohne … zustimmung|freigabe|erlaubnis|bestaetigung|rueckfrage|ruecksprache|genehmigung|einverstaendnis|okay|ok|ja',
  'ohne … fragen|nachfragen|nachzufragen|rueckfragen|bestaetigen|wissen',
  'frag|frage|fragt|fragst|fragen|nachfragen|nachfrage|rueckfragen … vorher|zuerst|erst|bevor|immer|ehe|jedes|jedesmal|davor',
  'vorher|zuerst|erst|immer|davor|jedesmal … frag|frage|fragen|fragst|nachfragen|rueckfragen|absprechen|abstimmen|abklaeren|bestaetigen|bescheid|freigeben|zeigen|zeig',
  'frag|frage mich|uns|nach',
  'bevor|ehe … frag|frage|fragen|fragst|bescheid|warte|warten|bestaetige|bestaetigen|freigebe|zustimme|ja|los',
  'bevor|bis|ehe|solange|sobald ich|wir|du',
  'erst|nur wenn|nachdem|sobald|dann',
  'es sei denn',
  'warte … bis|mein|meine|meinen|meiner|freigabe',
  'mit|meine|meiner|meinem|ausdruecklich|ausdrueckliche|ausdruecklicher … zustimmung|freigabe|erlaubnis|bestaetigung|genehmigung|einverstaendnis|okay|ok',
  'nur|bloss … lesen|ansehen|anschauen|angucken|lesend|schauen|pruefen|entwurf|entwuerfe|vorschlagen|vorschlaege',
  'lies|lese|schau|sieh|pruefe … nur|bloss',
  'darf|darfst|duerfen|duerft|soll|sollst|sollen|sollt|wird|werden … nicht|nichts|kein|keine|keinen|keinem',
  'nicht|nichts|kein|keine|keinen … darf|darfst|duerfen|duerft|soll|sollst|sollen',
  'loesch|loesche|loescht|schreib|schreibe|sende|send|schick|schicke|verschicke|aendere|veraendere|kauf|kaufe|bestell|bestelle|buch|buche|bezahle|zahle|ueberweise|verschieb|verschiebe|mach|mache|macht|tu|tue|fass|ruehr|starte|fuehr|fuehre|veroeffentliche|poste|gib|teile|nimm|installiere|antworte … nichts|nicht|kein|keine|keinen|keinem|niemand',
  'nicht|nichts … loeschen|senden|schicken|verschicken|aendern|veraendern|kaufen|bestellen|buchen|bezahlen|ueberweisen|verschieben|anfassen|anruehren|ausfuehren|starten|veroeffentlichen|posten|weitergeben|ueberschreiben|installieren|antworten|machen',
  'verboten|untersagt|tabu',
  'finger weg',
  'lass|lasst … ruhe|stehen|unangetastet|liegen',
];

/** What binds less, or lifts what bound: it gives way first where there is too much. */
const LOOSER = [
  "don't|dont",
  'do not',
  'cannot',
  'nothing',
  'avoid|refrain',
  'from now on',
  'always',
  'at most',
  'not|no more than',
  'only if|when|after|with|once',
  'make sure',
  'as long as',
  'hold off',
  'keep … private|secret|confidential',
  'no need to ask',
  'no longer … ask|need|have',
  'nichts',
  'bitte nicht|kein|keine|keinen',
  'ab jetzt|sofort|heute',
  'von nun an',
  'in zukunft',
  'kuenftig|zukuenftig',
  'immer|stets|grundsaetzlich|ausnahmslos',
  'hoechstens|maximal',
  'nicht mehr als',
  'nur mit|nach|ueber|an|bei',
  'achte darauf',
  'vertraulich|geheim',
  'musst … fragen|nachfragen',
];

/** Words that only look like one. */
const IDLE = [
  'never mind',
  'i|it|he|she|they|that|this never',
  "don't|dont|do not know|think|worry|mind|see|understand|remember|care|bother|hesitate|believe",
  "don't|dont know|think|worry|mind|see|understand|remember|care|bother|hesitate|believe",
  'ich|er|sie|es|das nie|niemals',
  'ich|er|sie|es|das habe|hat|hatte|bin|ist|war … nie|niemals',
];

interface Word {
  readonly among: ReadonlySet<string>;
  /** How many other words may stand before it. */
  readonly gap: number;
}
type Phrase = readonly Word[];

const GAP = 8;

/** By the word that they begin with. */
type Phrases = ReadonlyMap<string, readonly Phrase[]>;

function phrasesOf(lines: readonly string[]): Phrases {
  const phrases = new Map<string, Phrase[]>();
  for (const phrase of lines.map(phraseOf)) {
    for (const word of phrase[0]?.among ?? []) {
      const known = phrases.get(word) ?? [];
      phrases.set(word, [...known, phrase]);
    }
  }
  return phrases;
}

function phraseOf(line: string): Phrase {
  const parts = line.split(' ');
  return parts
    .map((part, index) => ({
      among: new Set(part.split('|')),
      gap: parts[index - 1] === '…' ? GAP : 0,
    }))
    .filter(({ among }) => !among.has('…'));
}

const PHRASES = { binding: phrasesOf(BINDING), looser: phrasesOf(LOOSER), idle: phrasesOf(IDLE) };

/** How firmly a sentence sets a condition; undefined where it sets none. */
export type Firmness = 'binding' | 'looser';

/** Looks for phrases of conditions in a sentence, in time that grows with its length alone. */
export function firmnessOf(sentence: string): Firmness | undefined {
  const words = wordsOf(sentence);
  blank(words, PHRASES.idle);
  if (holdsOne(words, PHRASES.binding)) return 'binding';
  return holdsOne(words, PHRASES.looser) ? 'looser' : undefined;
}

/** The words of a text as phrases have them: small, with umlauts and apostrophes written in one way. */
export function wordsOf(text: string): string[] {
  const folded = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[’‘`´]/g, "'")
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll('ß', 'ss');
  return folded.match(/[\p{L}\p{N}']+/gu) ?? [];
}

function holdsOne(words: readonly string[], phrases: Phrases): boolean {
  return words.some((word, start) => endIn(words, phrases.get(word) ?? [], start) !== undefined);
}

function blank(words: string[], phrases: Phrases): void {
  for (const [start, word] of words.entries()) {
    const end = endIn(words, phrases.get(word) ?? [], start);
    if (end !== undefined) words.fill('', start, end);
  }
}

function endIn(
  words: readonly string[],
  phrases: readonly Phrase[],
  start: number,
): number | undefined {
  return phrases.map((phrase) => endOf(words, phrase, start)).find((end) => end !== undefined);
}

/** Where a phrase ends that begins with the word at `start`; undefined where it does not begin there. */
function endOf(words: readonly string[], phrase: Phrase, start: number): number | undefined {
  let next = start;
  for (const { among, gap } of phrase) {
    const within = words.slice(next, next + gap + 1);
    const found = within.findIndex((word) => among.has(word));
    if (found < 0) return undefined;
    next += found + 1;
  }
  return next;
}
