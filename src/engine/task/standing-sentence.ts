import type { ApprovalRecord } from '../../core/approval/record.ts';
import { reasonEntry } from '../../core/notice/reasons.ts';
import type { EventRecord } from '../../core/session/record.ts';
import { hasEnded } from '../../core/task/moves.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { readObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Catalogue, Standing } from '../../text/catalogue.ts';
import { cutName, quoteRequest, quoteWords } from '../../text/quote.ts';
import type { Reader } from '../../text/reader.ts';
import { inWords, listNames } from '../../text/render.ts';
import { inlineShown } from '../../text/shown.ts';
import { sayInstant, sayWhen } from '../../text/when.ts';
import { nameOf } from '../turn/step.ts';
import { sayBudgets } from './budget-sentence.ts';
import type { Fence } from '../maintenance/fence.ts';
import type { Doing } from './doing.ts';
import { sayRecovery } from './recovery-sentence.ts';
import { sayDoing } from './doing-sentence.ts';
import { sayCauseOf, sayEvent } from './event-sentence.ts';

/** What is told of a task, as its records have it. */
export interface Found {
  readonly task: TaskRecord;
  /** The turn that has the conversation, of this task or another. */
  readonly turn: TurnRecord | undefined;
  readonly events: readonly EventRecord[];
  /** Null unless it is active. */
  readonly doing: Doing | null;
  /** Calls of tools that have an outcome, oldest first. */
  readonly calls: readonly StepRecord[];
  /** Those of them whose outcome is unknown. */
  readonly uncertain: readonly StepRecord[];
  /** Open ones, oldest first. */
  readonly approvals: readonly ApprovalRecord[];
  /** Given ones whose calls run when the task goes on. */
  readonly kept: readonly ApprovalRecord[];
  /** Whether its assessment is being made now, by a host that lives. */
  readonly isAssessed: boolean;
  /** Until when safe mode keeps it from going on by itself; null where it does not. */
  readonly heldUntil: Instant | null;
  /** Of its conversation, while that has no turn begin (M-8); undefined where it has, and once it has ended. */
  readonly fence: Fence | undefined;
  /** Budgets are told only where one of them is the trouble. */
  readonly isBrief?: boolean;
}

/** What a sentence is made with. */
export interface Telling {
  readonly words: Catalogue;
  readonly reader: Reader;
  readonly now: Instant;
}

/** What is told of a question or a note; more would not be read on a phone. */
const QUOTED_CHARS = 400;

/** Waits that are told by what they wait for: their bare cause would say it twice. */
const TOLD_BY_WAIT: ReadonlySet<string> = new Set([
  'awaits_instant',
  'awaits_answer',
  'awaits_approval',
]);

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

/** The same with whether the turn's host lives. */
function standingNow({ task, turn, doing }: Found): Standing {
  const standing = standingOf(task, turn);
  return standing === 'running' && doing?.kind === 'cut' ? 'cut' : standing;
}

/** How a task stands: since when, why, what it waits for and what is left, as sentences on one line. */
export function sayStanding(telling: Telling, found: Found): string {
  const { words } = telling;
  const { task, uncertain } = found;
  const standing = standingNow(found);
  const tools = listNames(words, [...new Set(uncertain.map(nameOf))]);
  const isAgain = reasonEntry(task.reason)?.again === true && standing !== 'stopping';
  const sentences = [
    words.why.standing[standing](standingFacts(telling, found, standing)),
    sayCause(words, task),
    ...sayDetail(words, task),
    ...sayRecovery(telling, found),
    ...sayNow(telling, found, standing),
    ...sayFenced(telling, found),
    ...sayWait(telling, found),
    tools === null ? '' : words.why.uncertain(tools),
    ...sayKept(telling, found),
    sayCheckpoint(words, task),
    sayReply(words, task),
    isAgain ? words.why.again : '',
    found.isBrief === true && task.reason !== 'budget_exhausted' ? '' : sayBudgets(telling, task),
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
    wait: task.waitKind === null ? '' : inWords(words.waits, task.waitKind),
  };
}

/** The instant at which the task came to stand as it does; a record's own change may be a mere count. */
function sinceOf({ task, turn, events }: Found, standing: Standing): Instant {
  if (task.endedAt !== null) return task.endedAt;
  if (standing === 'running' || standing === 'cut' || standing === 'stopping')
    return turn?.startedAt ?? task.changedAt;
  const begins =
    standing === 'queued'
      ? ({ type }: EventRecord) => ['task.created', 'task.moved', 'turn.ended'].includes(type)
      : ({ fromState, toState }: EventRecord) => toState === task.state && fromState !== toState;
  return events.findLast(begins)?.at ?? task.changedAt;
}

/** A reason that another version wrote is given by its code. */
function sayCause(words: Catalogue, { reason, state, outcomeData }: TaskRecord): string {
  if (reason === null || (state === 'waiting' && TOLD_BY_WAIT.has(reason))) return '';
  const isKnown = Object.hasOwn(words.causes, reason);
  if (!isKnown) return words.why.detail(cutName(reason));
  return sayCauseOf(words, reason, readObject(outcomeData)['absent']);
}

/** The provider's code, or which budget is used up. */
function sayDetail(words: Catalogue, { reason, outcomeData }: TaskRecord): readonly string[] {
  const { detail } = readObject(outcomeData);
  if (typeof detail !== 'string' || detail === '') return [];
  if (reason === 'budget_exhausted') return [words.why.exhausted(inWords(words.limits, detail))];
  return HAS_CODE.has(reason ?? '') ? [words.why.detail(cutName(detail))] : [];
}

/** Reasons whose detail is a provider's code; `model_unavailable` stands in records of version 1. */
const HAS_CODE: ReadonlySet<string> = new Set([
  'awaits_quota',
  'awaits_provider',
  'model_refused',
  'model_unavailable',
]);

function sayNow(telling: Telling, found: Found, standing: Standing): readonly string[] {
  const { words } = telling;
  const { task, turn } = found;
  const isHeld = task.enrollment === 'held-legacy' && !hasEnded(task.state);
  if (isHeld) return task.reason === 'held_legacy' ? [] : [words.why.held];
  if (standing === 'queued' && turn !== undefined) return [words.why.behind];
  return standing === 'running' ? sayRunning(telling, found) : [];
}

function sayFenced({ words }: Telling, { fence }: Found): readonly string[] {
  if (fence === undefined) return [];
  const { fenced } = words.maintenance;
  return [fenced[fence.isBlocked ? 'blocked' : 'shut'](`\`/why ${fence.operation.id}\``)];
}

/** What is done now, and the model once the provider has reported which it is (T-9). */
function sayRunning(telling: Telling, { turn, events, doing }: Found): readonly string[] {
  const { words } = telling;
  const selected = events.findLast(
    ({ type, turnId }) => type === 'model.selected' && turnId === turn?.id,
  );
  return [
    doing === null || doing.kind === 'queued' || doing.kind === 'cut'
      ? ''
      : words.why.step(String(doing.step), sayDoing(telling, doing)),
    selected === undefined ? '' : sayEvent(words, selected),
  ];
}

/** The question, what an approval is asked for, and what ends the wait when nothing comes. */
function sayWait(telling: Telling, { task, approvals, heldUntil }: Found): readonly string[] {
  const { words, reader, now } = telling;
  const asked = approvals.map(({ id, kind, tool, shown }) =>
    words.why[kind === 'uncertain' ? 'approvalAgain' : 'approval']({
      tool: listNames(words, [tool]) ?? words.someCall,
      shown: inlineShown(words, shown),
      id,
    }),
  );
  const { state, reason, waitKind, waitQuestion, waitUntil } = task;
  // When its next attempt is due, and what it waits for besides, is told of every interrupted task.
  if (state !== 'waiting' || waitKind === null || reason === 'interrupted') return asked;
  return [
    waitQuestion === null ? '' : words.why.question(quoteWords(words, waitQuestion, QUOTED_CHARS)),
    ...asked,
    waitUntil === null ? '' : sayUntil(words, waitKind, sayWhen(reader, words, waitUntil, now)),
    heldUntil === null ? '' : words.recovery.safeModeWaits(sayWhen(reader, words, heldUntil, now)),
  ];
}

function sayKept({ words }: Telling, { kept }: Found): readonly string[] {
  return kept.map(({ id, tool, shown }) =>
    words.why.approvalKept({
      tool: listNames(words, [tool]) ?? words.someCall,
      shown: inlineShown(words, shown),
      id,
    }),
  );
}

function sayUntil({ why }: Catalogue, kind: string, when: string): string {
  const until: Readonly<Record<string, (when: string) => string>> = why.until;
  return (Object.hasOwn(until, kind) ? until[kind] : undefined)?.(when) ?? why.until.worker(when);
}

function sayCheckpoint(words: Catalogue, { state, checkpoint }: TaskRecord): string {
  if (checkpoint === null || hasEnded(state)) return '';
  return words.why.checkpoint(quoteWords(words, checkpoint.replace(/[\s.]+$/, ''), QUOTED_CHARS));
}

function sayReply(words: Catalogue, { id, reason }: TaskRecord): string {
  if (reasonEntry(reason)?.reply !== true) return '';
  return reason === 'awaits_answer' ? words.why.answerIt : words.why.reply(id);
}
