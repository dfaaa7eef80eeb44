import type { ReplayedDecision, ReplayOutcome } from '../../compose/replay.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { cutText } from '../../kernel/printable.ts';
import { isoInstant } from '../../kernel/time.ts';

type Entry = ReplayedDecision['entries'][number];
type Differs = Extract<ReplayOutcome, { readonly kind: 'differs' }>;
type Cannot = Extract<ReplayOutcome, { readonly kind: 'cannot' }>;

const WORDS_MAX = 72;

/** A decision that was made as recorded: the unit, and its events with their numbers. */
export function decisionLines({ number, unit, entries }: ReplayedDecision): string {
  const [first] = entries;
  const head = `${number}. ${unit}  ${first === undefined ? '' : isoInstant(first.at)}`;
  return [head, ...entries.map((entry) => `   ${entryLine(entry)}`)].join('\n');
}

function entryLine({ seq, type, facts, said }: Entry): string {
  const about = [movement(facts), ...details(facts), spoken(facts, said)].filter(
    (part) => part !== '',
  );
  return `${String(seq).padStart(5)} ${type}${about.length === 0 ? '' : `: ${about.join(', ')}`}`;
}

function movement({ from, to, reason }: Entry['facts']): string {
  const states = [from, to].filter((state) => typeof state === 'string').join(' → ');
  return typeof reason === 'string' ? `${states} (${reason})` : states;
}

/** What a step asked for and came to, and what its event says in a word. */
function details({ tool, input, state, errorCode, data }: Entry['facts']): readonly string[] {
  const call = typeof tool === 'string' ? `${tool} ${quoted(input)}`.trim() : '';
  const end = [state, errorCode].filter((word) => typeof word === 'string').join(' ');
  const known = isObject(data) ? data : {};
  const words = ['end', 'level', 'code', 'state', 'outcome', 'wait', 'kind', 'step', 'cause'];
  const told = words.map((word) => known[word]).filter((word) => typeof word === 'string');
  return [call, end, told.join(' ')];
}

function spoken({ output }: Entry['facts'], said: Entry['said']): string {
  if (said !== null) return quoted(said['text'] ?? said['mandateText'] ?? said['tool']);
  return quoted(output);
}

function quoted(text: Json | undefined): string {
  if (typeof text !== 'string' || text === '') return '';
  return `"${cutText(text.replaceAll(/\s+/g, ' '), WORDS_MAX)}"`;
}

/** Both sides of the first difference, in plain words. */
export function differenceLines({ recorded, instead, remarks, ...at }: Differs): string {
  const [first] = recorded;
  const [here] = instead;
  const alike = here?.alike ?? 0;
  const seq = (first?.seq ?? 0) + alike;
  const lines = [
    `This version decides differently at event ${seq}, after ${counted(at.decisions, 'decision')} as recorded.`,
    '',
    'Recorded:',
    ...recorded.map((entry) => mark(entry, seq)),
    '',
    ...(here === undefined
      ? ['This version does nothing there.']
      : [`This version (${here.unit}):`, ...here.entries.map((entry) => mark(entry, seq))]),
    ...fieldLines(recorded[alike], here?.entries[alike]),
  ];
  if (remarks.length > 0) lines.push('', ...remarks);
  return lines.join('\n');
}

function mark(entry: Entry, seq: number): string {
  return `${entry.seq === seq ? ' →' : '  '} ${entryLine(entry)}`;
}

/** Where both wrote the same kind of event: what is different in it. */
function fieldLines(recorded: Entry | undefined, here: Entry | undefined): readonly string[] {
  if (recorded === undefined || here === undefined || recorded.type !== here.type) return [];
  const sides = [
    [recorded.facts, here.facts],
    [dataOf(recorded), dataOf(here)],
    [recorded.said ?? {}, here.said ?? {}],
  ] as const;
  const lines = sides.flatMap(([one, other]) =>
    [...new Set([...Object.keys(one), ...Object.keys(other)])]
      .filter((name) => name !== 'data' && shown(one[name]) !== shown(other[name]))
      .map((name) => `   ${name}: recorded ${shown(one[name])}, now ${shown(other[name])}`),
  );
  return lines.length === 0 ? [] : ['', 'What differs:', ...lines];
}

function dataOf({ facts: { data } }: Entry): Readonly<Record<string, Json>> {
  return isObject(data) ? data : {};
}

function shown(value: Json | undefined): string {
  return cutText(JSON.stringify(value ?? null), 200);
}

const OBSTACLES: Readonly<Record<Cannot['obstacle']['code'], string>> = {
  gap: 'it is missing in the records',
  no_answer: 'the answer that was given there is not in the records',
  imported: 'it came with an import, and what went before it ran elsewhere',
  worker: 'a worker wrote it, and what workers do is not recorded here',
  elsewhere: 'other conversations led to it, as by finding a provider away',
  hosts: 'several hosts worked in this conversation at once',
  order: 'what a person ordered there cannot be read off the record',
};

/** From where on there is nothing to replay, and why. */
export function obstacleLine({ obstacle: { seq, code }, decisions }: Cannot): string {
  return (
    `The conversation cannot be replayed from event ${seq} on: ${OBSTACLES[code]}. ` +
    `Before it ${counted(decisions, 'decision')} ${decisions === 1 ? 'was' : 'were'} made as recorded.`
  );
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
