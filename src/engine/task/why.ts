import { REASONS, typeCommand, waysOf } from '../../core/notice/reasons.ts';
import type { EventRecord } from '../../core/session/record.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Catalogue, Locale, Standing } from '../../text/catalogue.ts';
import { cutName, quoteRequest } from '../../text/quote.ts';
import { catalogueOf, type Reader } from '../../text/reader.ts';
import { listNames } from '../../text/render.ts';
import { sayInstant, saySecond, sayWhen } from '../../text/when.ts';
import type { EngineParts } from '../engine.ts';
import { nameOf } from '../turn/step.ts';
import { sayEvent } from './event-sentence.ts';
import { sayBudgets } from './budget-sentence.ts';

export interface Audience {
  readonly locale: Locale;
  /** IANA name of the reader's zone. */
  readonly timeZone: string;
}

/** How a task stands, in words (W-6). */
export interface Explanation {
  /** State and since when, cause, what it waits for, uncertain calls, budgets: whole sentences on one line. */
  readonly sentence: string;
  /** What led there, newest first; each a time and a whole sentence. */
  readonly chain: readonly string[];
  /** The same commands as the notice's (V8), exactly as they are typed. */
  readonly commands: readonly {
    readonly command: string;
    readonly who: string;
    readonly effect: string;
  }[];
}

/** What `why` looks at; more would not be read on a phone. */
const CHAIN_SENTENCES = 16;
/** Events of one task that are looked through. */
const EVENTS_READ = 2_000;
/** Steps of one task that are looked through. */
const STEPS_READ = 2_000;

interface Found {
  readonly task: TaskRecord;
  /** The turn that has the conversation, of this task or another. */
  readonly turn: TurnRecord | undefined;
  readonly events: readonly EventRecord[];
  readonly step: StepRecord | undefined;
  /** Calls of tools that have an outcome, oldest first. */
  readonly calls: readonly StepRecord[];
  /** Those of them whose outcome is unknown. */
  readonly uncertain: readonly StepRecord[];
}

/** What a sentence is made with. */
interface Telling {
  readonly words: Catalogue;
  readonly reader: Reader;
  readonly now: Instant;
}

/**
 * Explains a task from the store alone (W-3): its state and since when, what led there, what it waits
 * for, what is left of its budgets and the commands that change it, each with who may give it (W-6).
 * Undefined when no task has this id; who may see it is for the caller to judge.
 */
export async function explainTask(
  parts: EngineParts,
  taskId: TaskId,
  audience: Audience,
): Promise<Explanation | undefined> {
  const found = await find(parts, taskId);
  if (found === undefined) return undefined;
  const words = catalogueOf(audience.locale);
  const reader = { ...audience, hostTimeZone: parts.options.timeZone };
  const telling = { words, reader, now: parts.clock.now() };
  const { id, state, reason } = found.task;
  return {
    sentence: sayStanding(telling, found),
    chain: sayChain(telling, found),
    commands: waysOf(state, reason).map((way) => ({
      command: typeCommand(way, id),
      who: words.who[way.who],
      effect: words.effects[way.effect],
    })),
  };
}

/** Whether a turn has the task, for an open task; for an ended one whether its calls are still being ended. */
export function standingOf(
  { id, state }: Pick<TaskRecord, 'id' | 'state'>,
  turn: Pick<TurnRecord, 'taskId' | 'state'> | undefined,
): Standing {
  const isMine = turn?.taskId === id;
  if (isMine && (hasEnded(state) || turn.state === 'stopping')) return 'stopping';
  if (state !== 'active') return state;
  return isMine ? 'running' : 'queued';
}

// The reads are not one snapshot: a task that moved in between is read once more, so that a turn
// that has just ended is not told as one that waits for its turn.
async function find(parts: EngineParts, id: TaskId): Promise<Found | undefined> {
  const first = await gather(parts, id);
  const later = await parts.store.query('task.byId', { id });
  return first?.task.version === later?.version ? first : gather(parts, id);
}

async function gather({ store }: EngineParts, id: TaskId): Promise<Found | undefined> {
  const task = await store.query('task.byId', { id });
  if (task === undefined) return undefined;
  const { conversationId } = task;
  const turn = await store.query('turn.ofConversation', { conversationId });
  const asked = { conversationId, taskId: id, limit: EVENTS_READ };
  const events = await store.query('event.ofTask', asked);
  const step =
    turn?.taskId === id
      ? await store.query('step.lastOf', { conversationId, turnId: turn.id })
      : undefined;
  const steps = await store.query('step.ofTask', { ...asked, limit: STEPS_READ });
  const calls = steps.filter(({ kind, state }) => kind === 'tool' && state !== 'started');
  const uncertain = calls.filter(({ state }) => state === 'uncertain');
  return { task, turn, events, step, calls, uncertain };
}

function sayStanding(telling: Telling, found: Found): string {
  const { words } = telling;
  const { task, turn, uncertain } = found;
  const standing = standingOf(task, turn);
  const tools = listNames(words, [...new Set(uncertain.map(nameOf))]);
  const isAgain = task.reason !== null && REASONS[task.reason].again && standing !== 'stopping';
  const sentences = [
    words.why.standing[standing](standingFacts(telling, found, standing)),
    task.reason === null ? '' : words.causes[task.reason],
    sayDetail(words, task),
    ...sayNow(telling, found, standing),
    ...sayWait(telling, task),
    tools === null ? '' : words.why.uncertain(tools),
    isAgain ? words.why.again : '',
    sayBudgets(telling, task),
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function standingFacts(
  { words, reader, now }: Telling,
  found: Found,
  standing: Standing,
): Parameters<Catalogue['why']['standing'][Standing]>[0] {
  const { task } = found;
  const since = sinceOf(found, standing);
  return {
    request: quoteRequest(words, task.mandateText),
    id: task.id,
    since: sayInstant(reader, words.tag, since, now),
    when: sayWhen(reader, words, since, now),
    wait: task.waitKind === null ? '' : words.waits[task.waitKind],
  };
}

/** The instant at which the task came to stand as it does; a record's own change may be a mere count. */
function sinceOf({ task, turn, events }: Found, standing: Standing): Instant {
  if (task.endedAt !== null) return task.endedAt;
  if (standing === 'running' || standing === 'stopping') return turn?.startedAt ?? task.changedAt;
  const begins =
    standing === 'queued'
      ? ({ type }: EventRecord) => ['task.created', 'task.moved', 'turn.ended'].includes(type)
      : ({ fromState, toState }: EventRecord) => toState === task.state && fromState !== toState;
  return events.findLast(begins)?.at ?? task.changedAt;
}

function sayDetail(words: Catalogue, { state, outcomeData }: TaskRecord): string {
  const { detail } = readObject(outcomeData);
  return state === 'failed' && typeof detail === 'string' ? words.why.detail(cutName(detail)) : '';
}

function sayNow({ words }: Telling, found: Found, standing: Standing): readonly string[] {
  const { task, turn } = found;
  if (task.enrollment === 'held-legacy' && !hasEnded(task.state)) return [words.why.held];
  if (standing === 'queued' && turn !== undefined) return [words.why.behind];
  return standing === 'running' ? sayRunning(words, found) : [];
}

/** The step that runs, and the model once the provider has reported which it is (T-9). */
function sayRunning(words: Catalogue, { turn, events, step }: Found): readonly string[] {
  const selected = events.findLast(
    ({ type, turnId }) => type === 'model.selected' && turnId === turn?.id,
  );
  return [
    step?.state === 'started' ? sayStep(words, step) : '',
    selected === undefined ? '' : sayEvent(words, selected),
  ];
}

function sayStep(words: Catalogue, { ordinal, tool }: StepRecord): string {
  const named = tool === null ? null : listNames(words, [tool]);
  return words.why.step({ ordinal: String(ordinal), tool: named });
}

function sayWait({ words, reader, now }: Telling, task: TaskRecord): readonly string[] {
  if (task.state !== 'waiting') return [];
  const { waitQuestion, waitUntil } = task;
  return [
    waitQuestion === null ? '' : words.why.question(quoteRequest(words, waitQuestion)),
    waitUntil === null ? '' : words.why.until(sayWhen(reader, words, waitUntil, now)),
  ];
}

function sayChain({ words, reader, now }: Telling, found: Found): readonly string[] {
  const { events, calls } = found;
  const told = [
    ...events.map((event) => ({
      ...placed(event),
      sentence: sayEvent(words, asMandated(event, found.task)),
    })),
    ...calls.map((step) => ({
      seq: step.seq,
      at: step.startedAt,
      sentence: sayCall(words, step),
    })),
  ].toSorted((one, other) => other.seq - one.seq);
  const shown = told
    .slice(0, CHAIN_SENTENCES)
    .map(({ at, sentence }) => words.why.event(saySecond(reader, words.tag, at, now), sentence));
  const earlier = told.length - shown.length;
  return [
    ...(events.length === EVENTS_READ ? [words.why.later] : []),
    ...shown,
    ...(earlier === 0 ? [] : [words.why.earlier(String(earlier))]),
  ];
}

// The host makes a task when a turn claims its message; a person asks whose task it is.
function asMandated(event: EventRecord, { mandatePrincipal }: TaskRecord): EventRecord {
  return event.type === 'task.created' ? { ...event, by: mandatePrincipal } : event;
}

function sayCall(words: Catalogue, step: StepRecord): string {
  const name = listNames(words, [nameOf(step)]) ?? '';
  const state = step.state === 'started' ? 'uncertain' : step.state;
  return words.why.calls[state](name, cutName(step.errorCode ?? state));
}

function placed({ seq, at }: EventRecord): { readonly seq: number; readonly at: Instant } {
  return { seq, at };
}
