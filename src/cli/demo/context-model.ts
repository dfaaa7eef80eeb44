import type { DemoAnswer, DemoQuestion } from '../../compose/demo-model.ts';
import { isObject, parseJson, type Json, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** How the scripted model behaves; the demo moves it on. */
export interface ContextScript {
  /** Whether a call for a summary is answered, or fails with the status 500. */
  areSummariesMade: boolean;
}

/** What the demo's person says, and what it is about. */
export const CONDITION = 'Before you delete anything, ask me first.';
export const REMINDER = 'Remind me in three days to pay for the cellar.';
export const DELETE = 'Please delete the letters that we have read.';
export const REFUSAL = 'No, keep them.';

/** What is said while the conversation stands, in this order, and what the model then says to each. */
export const KEPT = [
  { said: 'Which of the letters was about the boat?', answer: 'The third one, by Mia.' },
  { said: 'And who wrote most?', answer: 'All of them wrote equally often.' },
  { said: 'Are you there?', answer: 'I am, and there is room again.' },
] as const;

const LETTERS_PER_PERSON = 4;
const WRITERS = [
  'Mia',
  'Jonas',
  'Aunt Vera',
  'The landlord',
  'The school',
  'Mr Okada',
  'A neighbour',
  'Grandfather',
] as const;
const ABOUT = ['the garden', 'a birthday', 'the old boat', 'a journey by train'] as const;
export const LETTERS = WRITERS.length * LETTERS_PER_PERSON;

/** `letters/07.txt`. */
export function letterPath(number: number): string {
  return `letters/${String(number).padStart(2, '0')}.txt`;
}

function letterAbout(number: number): string {
  const writer = WRITERS[Math.floor((number - 1) / LETTERS_PER_PERSON)] ?? WRITERS[0];
  return `${writer} writes about ${ABOUT[(number - 1) % LETTERS_PER_PERSON] ?? ABOUT[0]}`;
}

/** Some three thousand characters: a page or two. */
export function letterText(number: number): string {
  const line = `${letterAbout(number)}, and about the weather, and asks how everybody is.\n`;
  return line.repeat(Math.ceil(LETTER_CHARS / line.length));
}

const LETTER_CHARS = 3_000;
const SECONDS_OF_THREE_DAYS = 259_200;

/** What the scripted model says: it knows nothing but what stands in the request. */
export function answerContext(script: ContextScript, question: DemoQuestion): DemoAnswer {
  if (question.asks === 'summary')
    return script.areSummariesMade ? summary(question) : { status: 500 };
  if (question.asks === 'classification')
    return { say: JSON.stringify({ taskId: null, reason: 'It asks for something new.' }) };
  const last = spokenIn(question).at(-1);
  return last?.role === 'tool' ? afterTool(last.text) : afterWords(wordsIn(question), question);
}

function summary({ text }: DemoQuestion): DemoAnswer {
  const read = [...text.matchAll(/letters\/(\d\d)\.txt/g)].map(([, number]) => Number(number));
  const known = [...text.matchAll(/letters 1 to (\d+) were read/g)].map(([, to]) => Number(to));
  const last = Math.max(0, ...read, ...known);
  const said = `The person is going through old letters; letters 1 to ${last} were read, one after another.`;
  return { say: JSON.stringify({ summary: said }) };
}

/** It says what the letter begins with; of a tool that gives no letter, what it gives. */
function afterTool(result: string): DemoAnswer {
  const about = WRITERS.flatMap((writer) =>
    ABOUT.map((topic) => `${writer} writes about ${topic}`),
  );
  return { say: `${about.find((one) => result.includes(one)) ?? result}.` };
}

/** What was said one after another is answered in the same order. */
function afterWords(said: readonly string[], question: DemoQuestion): DemoAnswer {
  const last = said.at(-1) ?? '';
  const path = /letters\/\d\d\.txt/.exec(last)?.[0];
  if (path !== undefined) return { call: 'read', args: { path } };
  switch (last) {
    case CONDITION:
      return { say: 'I will ask you before I delete anything.' };
    case REMINDER:
      return { call: 'task_wait', args: { for: 'instant', seconds: SECONDS_OF_THREE_DAYS } };
    case DELETE:
      return toldBy(question).condition !== undefined
        ? { call: 'task_wait', args: { for: 'answer', question: MAY_I } }
        : { say: 'I have deleted them.' };
    default:
      return { say: said.map(answerTo).join(' ') };
  }
}

const MAY_I = 'You told me to ask before I delete anything. Shall I?';

function answerTo(said: string): string {
  if (said === REFUSAL) return 'Then they stay. I have deleted nothing.';
  return KEPT.find((one) => one.said === said)?.answer ?? 'I do not know.';
}

/** What the host's own records say in a request, each as its line: of what is to hold, and of what is open. */
export function toldBy(question: DemoQuestion): {
  readonly condition: string | undefined;
  readonly open: string | undefined;
} {
  const lines = messagesOf(question).flatMap(({ content }) => textOf(content).split('\n'));
  // The same words also stand in the record of the ended task that they were.
  const condition = lines.find((line) => line.startsWith('{"at":') && line.includes(CONDITION));
  const open = lines.find((line) => line.includes('"waitsFor":') && line.includes(REMINDER));
  return { condition, open };
}

/** What persons say at the end of a request, one after another. */
function wordsIn(question: DemoQuestion): readonly string[] {
  const spoken = spokenIn(question);
  const answered = spoken.findLastIndex(({ role }) => role !== 'user');
  return spoken.slice(answered + 1).map(({ text }) => text);
}

interface Spoken {
  readonly role: string;
  readonly text: string;
}

/** What was said in a request, without what the host adds from its records. */
function spokenIn(question: DemoQuestion): readonly Spoken[] {
  return messagesOf(question)
    .map(({ role, content }) => ({ role: textOf(role), text: textOf(content) }))
    .filter(({ role, text }) => role !== 'user' || isSaid(text));
}

const SAID: ReadonlySet<string> = new Set([
  CONDITION,
  REMINDER,
  DELETE,
  REFUSAL,
  ...KEPT.map(({ said }) => said),
]);

function isSaid(text: string): boolean {
  return SAID.has(text) || /^Read letters\/\d\d\.txt\.$/.test(text);
}

function messagesOf({ text }: DemoQuestion): readonly JsonObject[] {
  const parsed = parseJson(text, LIMITS.jsonDepthMax);
  const messages = parsed.ok && isObject(parsed.value) ? parsed.value['messages'] : undefined;
  return Array.isArray(messages) ? messages.filter((one: Json) => isObject(one)) : [];
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter((part: Json) => isObject(part))
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n');
}
