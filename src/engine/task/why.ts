import type { ApprovalRecord } from '../../core/approval/record.ts';
import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import { waysOf } from '../../core/notice/reasons.ts';
import { wasAsked } from '../../core/turn/decide.ts';
import type { EventRecord } from '../../core/session/record.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { isId, type TaskId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Catalogue, EffectWord, Locale, WhoWord } from '../../text/catalogue.ts';
import { cutName } from '../../text/quote.ts';
import { catalogueOf } from '../../text/reader.ts';
import { listNames } from '../../text/render.ts';
import { saySecond } from '../../text/when.ts';
import type { EngineParts } from '../engine.ts';
import { readFence } from '../maintenance/fence.ts';
import { sayOperationWays } from '../maintenance/operation-ways.ts';
import { nameOf } from '../turn/step.ts';
import { readDoing } from './doing.ts';
import { sayEvent } from './event-sentence.ts';
import { isLiving } from './living.ts';
import { readHolding } from './safe-mode-hold.ts';
import { sayStanding, type Found, type Telling } from './standing-sentence.ts';

export interface Audience {
  readonly locale: Locale;
  /** IANA name of the reader's zone. */
  readonly timeZone: string;
  /** Among what else waits: without the calls that are asked about there too, and without budgets. */
  readonly isBrief?: boolean;
}

/** How a task stands, in words (W-6). */
export interface Explanation {
  /** State and since when, cause, what it waits for, uncertain calls, budgets: whole sentences on one line. */
  readonly sentence: string;
  /** What led there, newest first; each a time and a whole sentence. */
  readonly chain: readonly string[];
  /** The same commands as the notices' (V8), exactly as they are typed. */
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
  const { fence } = found;
  return {
    sentence: sayStanding(telling, audience.isBrief === true ? briefly(found) : found),
    chain: sayChain(telling, found),
    commands: [
      ...commandsOf(found).map(({ command, who, effect }) => ({
        command,
        who: words.who[who],
        effect: words.effects[effect],
      })),
      ...(fence === undefined ? [] : sayOperationWays(words, fence.operation)),
    ],
  };
}

function briefly(found: Found): Found {
  return { ...found, approvals: [], kept: [], isBrief: true };
}

interface Named {
  readonly command: string;
  readonly who: WhoWord;
  readonly effect: EffectWord;
}

/** The ways out of how it stands, and the answers to whatever else a person was asked about it (E-2). */
function commandsOf({ task, approvals, heldUntil }: Found): readonly Named[] {
  const ways = waysOf(task).map((way): Named => {
    const asked = approvals.find(({ id }) => id === task.waitId && way.command.endsWith(` ${id}`));
    return asked === undefined ? way : { ...way, who: answererOf(asked) };
  });
  // What is asked of history is answered once it is woken.
  const open = task.enrollment === 'current' ? approvals : [];
  const others = open.filter(({ id }) => ways.every(({ command }) => !command.endsWith(id)));
  return [...(heldUntil === null ? [] : [SAFE_MODE_OFF]), ...ways, ...others.flatMap(answersOf)];
}

const SAFE_MODE_OFF: Named = { command: '/safe-mode off', who: 'admin', effect: 'safe_mode_off' };

function answersOf(approval: ApprovalRecord): readonly Named[] {
  const { id, kind } = approval;
  const who = answererOf(approval);
  const isAgain = kind === 'uncertain';
  return [
    { command: `/approve ${id}`, who, effect: isAgain ? 'approve_again' : 'approve' },
    { command: `/deny ${id}`, who, effect: isAgain ? 'deny_again' : 'deny' },
  ];
}

function answererOf({ approver }: ApprovalRecord): WhoWord {
  return approver === 'other' ? 'other_admin' : 'task_principal_or_admin';
}

// The reads are not one snapshot: a task that moved in between is read once more, so that a turn
// that has just ended is not told as one that waits for its turn.
async function find(parts: EngineParts, id: TaskId): Promise<Found | undefined> {
  const first = await gather(parts, id);
  const later = await parts.store.query('task.byId', { id });
  return first?.task.version === later?.version ? first : gather(parts, id);
}

async function gather(parts: EngineParts, id: TaskId): Promise<Found | undefined> {
  const { store } = parts;
  const task = await store.query('task.byId', { id });
  if (task === undefined) return undefined;
  const { conversationId } = task;
  const turn = await store.query('turn.ofConversation', { conversationId });
  const asked = { conversationId, taskId: id, limit: EVENTS_READ };
  const events = await store.query('event.ofTask', asked);
  const doing = await readDoing(parts, task);
  const steps = await store.query('step.ofTask', { ...asked, limit: STEPS_READ });
  const calls = steps.filter(({ kind, state }) => kind === 'tool' && state !== 'started');
  const uncertain = calls.filter(({ state }) => state === 'uncertain');
  const approvals = await store.query('approval.openOfTask', { taskId: id });
  const kept = await readKept(parts, task);
  const isAssessed = await isAssessedNow(parts, task, events);
  const heldUntil = isAssessed ? null : await readHolding(parts, task);
  const fence = hasEnded(task.state) ? undefined : await readFence(parts, conversationId);
  const found = { task, turn, events, doing, calls, uncertain, approvals, kept, fence };
  return { ...found, isAssessed, heldUntil };
}

/** Whether the last reserved attempt is out: its outcome is not known, and the host that made it lives. */
async function isAssessedNow(
  parts: EngineParts,
  task: TaskRecord,
  events: readonly EventRecord[],
): Promise<boolean> {
  if (task.recoveryOutcome !== 'reserved' || task.waitKind !== 'assessment') return false;
  const reserved = events.findLast(({ type }) => type === 'assessment.reserved');
  const [, id = ''] = /^host:(.+)$/.exec(reserved?.by ?? '') ?? [];
  return isId('host', id) && isLiving(parts, id);
}

/** The approvals that were given and whose calls run when the task goes on (E-4). */
async function readKept(
  { store }: EngineParts,
  { id: taskId, conversationId, state }: TaskRecord,
): Promise<readonly ApprovalRecord[]> {
  if (state === 'active' || hasEnded(state)) return [];
  const messages = await store.query('message.openOfTask', { conversationId, taskId });
  const ids = messages
    .filter(({ channel, state: at }) => channel === HOST_CHANNELS.approval && at === 'unclaimed')
    .flatMap(({ externalId: id }) => (isId('approval', id) ? [id] : []));
  const kept = await Promise.all(ids.map((id) => store.query('approval.byId', { id })));
  return kept.filter((approval) => approval !== undefined);
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
  return words.why.calls[wasAsked(step) ? 'asked' : state](name, cutName(step.errorCode ?? state));
}

function placed({ seq, at }: EventRecord): { readonly seq: number; readonly at: Instant } {
  return { seq, at };
}
