import { isObject, parseJson, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { readInstant, SECOND, type Instant } from '../../kernel/time.ts';
import type { Tool } from '../../ports/tools.ts';
import type { SetWait } from './conclude.ts';

const TEXT = { type: 'string', minLength: 1, maxLength: LIMITS.noteCharsMax } as const;

function taskTool(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): Tool {
  const parameters = { type: 'object', properties, required, additionalProperties: false };
  return { name, description, parameters, repeatable: 'yes', changes: 'no' };
}

/** The tools with which a model says how its own task goes on (E-5): the host carries them out itself. */
export const TASK_TOOLS: readonly Tool[] = [
  taskTool(
    'task_wait',
    'End this turn and wait: for an instant (give `at` with its zone, or `seconds`), or for the ' +
      'person’s answer to `question`.',
    {
      for: { enum: ['instant', 'answer'] },
      at: { type: 'string', description: 'ISO 8601 with zone' },
      seconds: { type: 'number', minimum: 1 },
      question: TEXT,
    },
    ['for'],
  ),
  taskTool(
    'task_continue',
    'End this turn and go on with the task in a further one; `note` is what you will be told then.',
    { note: TEXT },
    ['note'],
  ),
  taskTool(
    'task_note',
    'Save your progress with the task, in place of the note before.',
    { text: TEXT },
    ['text'],
  ),
];

export function isTaskTool(name: string): boolean {
  return TASK_TOOLS.some((tool) => tool.name === name);
}

/** What a task tool asks of the host; `leads` ends the turn after the calls of its reply. */
export type TaskOrder =
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'note'; readonly note: string; readonly text: string }
  | {
      readonly kind: 'leads';
      readonly to:
        | { readonly kind: 'waits'; readonly wait: SetWait }
        | { readonly kind: 'continues'; readonly note: string };
      readonly text: string;
    };

/** Reads a call of a task tool; what it lacks is an error that the model reads. */
export function readTaskTool(
  call: { readonly name: string; readonly args: string },
  about: { readonly now: Instant; readonly deadline: Instant | null },
): TaskOrder {
  const parsed = parseJson(call.args.trim() === '' ? '{}' : call.args, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return error('the arguments are no JSON object');
  const args = parsed.value;
  if (call.name === 'task_wait') return readWait(args, about);
  const key = call.name === 'task_note' ? 'text' : 'note';
  const text = textOf(args, key);
  if (text === undefined)
    return error(`${key}: a text of 1 to ${LIMITS.noteCharsMax} characters is needed`);
  if (call.name === 'task_note') return { kind: 'note', note: text, text: 'saved' };
  const said = `The turn ends after these calls; the task goes on with this note. ${UNLESS}`;
  return { kind: 'leads', to: { kind: 'continues', note: text }, text: said };
}

const UNLESS = 'A message of the person that arrives before goes first.';

function readWait(
  args: JsonObject,
  about: { readonly now: Instant; readonly deadline: Instant | null },
): TaskOrder {
  if (args['for'] === 'answer') {
    const question = textOf(args, 'question');
    if (question === undefined) return error('question: the question is needed');
    const text = `The person is asked; the turn ends after these calls. ${UNLESS}`;
    return { kind: 'leads', to: { kind: 'waits', wait: { kind: 'answer', question } }, text };
  }
  if (args['for'] !== 'instant') return error('for: "instant" or "answer"');
  const until = instantOf(args, about.now);
  const problem = until === undefined ? NO_INSTANT : problemOf(until, about);
  if (until === undefined || problem !== undefined) return error(problem ?? NO_INSTANT);
  const text = `The turn ends after these calls; the task goes on then. ${UNLESS}`;
  return {
    kind: 'leads',
    to: {
      kind: 'waits',
      wait: { kind: 'instant', until, isOrder: typeof args['at'] === 'string' },
    },
    text,
  };
}

const NO_INSTANT =
  'give `at` as ISO 8601 with its zone, as in 2030-01-31T09:00:00+01:00, or `seconds` from now on';

function instantOf({ at, seconds }: JsonObject, now: Instant): Instant | undefined {
  if (typeof at === 'string') return readInstant(at);
  const isLength = typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0;
  return isLength ? Math.ceil(now + seconds * SECOND) : undefined;
}

function problemOf(
  until: Instant,
  { now, deadline }: { readonly now: Instant; readonly deadline: Instant | null },
): string | undefined {
  if (until <= now) return 'this instant has passed';
  if (until - now > LIMITS.waitInstantMaxMs) return 'this instant is more than a year away';
  return deadline !== null && until >= deadline
    ? 'this instant is not before the deadline of the task'
    : undefined;
}

function textOf(args: JsonObject, key: string): string | undefined {
  const text = args[key];
  const isText = typeof text === 'string' && text.trim() !== '';
  return isText && text.length <= LIMITS.noteCharsMax ? text : undefined;
}

function error(text: string): TaskOrder {
  return { kind: 'error', text };
}
