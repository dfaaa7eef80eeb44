import type { TaskRecord } from '../../core/task/record.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import { stormEndsAt } from '../../core/recovery/storm.ts';
import { waysOf } from '../../core/notice/reasons.ts';
import { ABOVE_ALL_IDS, type ConversationId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { quoteRequest } from '../../text/quote.ts';
import { sayReported, type ReportedItem } from '../../text/recovery-facts.ts';
import { sayDrift } from '../../text/render.ts';
import { sayInstant, sayWhen } from '../../text/when.ts';
import { sayAccount, standingLimiters } from '../budget/standing.ts';
import type { EngineParts, Health } from '../engine.ts';
import { sayStoreAlarm } from '../lease/alarm.ts';
import { maySee, type Asker } from '../task/nearest.ts';
import { readTurnDoing } from '../task/doing.ts';
import { sayDoing } from '../task/doing-sentence.ts';
import { chainOf } from '../session/agent.ts';
import { sayFences, sayPaused } from './fence-answer.ts';
import { speak, type Speaking } from './speaking.ts';

/** How the host is, from the store and its own memory (W-3). */
export async function sayStatus(
  parts: EngineParts,
  order: Asker & { readonly health: Health },
): Promise<string> {
  const { conversationId, health } = order;
  const speaking = speak(parts, parts.clock.now());
  const { alarm } = parts.store;
  const open = await parts.store.query('task.open', { limit: LIMITS.listLimitMax });
  return [
    ...sayHost(speaking, health),
    ...(await sayModel(parts, speaking, order)),
    ...standingLimiters(parts, health.limiters, speaking.now).map((limiter) =>
      sayLimiter(parts, speaking, limiter),
    ),
    ...sayClock(speaking, health),
    ...saySafeMode(speaking, health),
    ...(alarm ? [sayStoreAlarm(speaking.words, alarm)] : []),
    sayCounts(speaking.words, open),
    ...(await sayRecovery(parts, speaking, order)),
    ...(await sayFences(parts, speaking.words, conversationId)),
    ...(await sayDecisions(parts, speaking, { asker: order, open })),
    await sayHere(parts, speaking, conversationId),
  ].join('\n');
}

function sayHost({ words, reader, now }: Speaking, health: Health): readonly string[] {
  const { state, startedAt, reason } = health;
  const when = startedAt === null ? null : sayWhen(reader, words, startedAt, now);
  const host = words.answers.host(words.hostStates[state], when);
  return reason === null ? [host] : [host, words.answers.hostReason(reason)];
}

/** The model of this conversation and, apart from it, the one that a provider last reported (T-9). */
async function sayModel(
  parts: EngineParts,
  { words, reader, now }: Speaking,
  order: { readonly conversationId: ConversationId; readonly health: Health },
): Promise<readonly string[]> {
  const { conversationId: id, health } = order;
  const { answers } = words;
  const conversation = await parts.store.query('conversation.byId', { id });
  const [{ provider, name }] = chainOf(parts, conversation ?? { agent: '', model: null });
  const configured = answers.modelConfigured(`${provider}/${name}`);
  const { answeredBy } = health;
  if (answeredBy === null) return [configured, answers.modelSilent];
  const when = sayWhen(reader, words, answeredBy.at, now);
  return [configured, answers.modelAnswered(`${answeredBy.provider}/${answeredBy.model}`, when)];
}

function sayLimiter(
  parts: EngineParts,
  { words, reader, now }: Speaking,
  limiter: LimiterRecord,
): string {
  const { until } = limiter;
  const when = until === null ? null : sayWhen(reader, words, until, now);
  return words.answers.limiter({ ...sayAccount(words, parts, limiter), until: when });
}

function sayClock({ words, reader, now }: Speaking, { clock }: Health): readonly string[] {
  if (clock.isTrusted) return [];
  const when = sayInstant(reader, words.tag, clock.until ?? now, now);
  return [words.answers.clockDistrusted({ drift: sayDrift(words, clock.driftMs), when })];
}

function saySafeMode(
  { words, reader, now }: Speaking,
  { safeMode: storm }: Health,
): readonly string[] {
  if (storm === null) return [];
  const say = (at: Instant): string => sayInstant(reader, words.tag, at, now);
  return [words.answers.safeMode({ since: say(storm.since), until: say(stormEndsAt(storm)) })];
}

/** What goes on by a check, and what an admin alone wakes: the report after a start tells decisions only. */
async function sayRecovery(
  { store }: EngineParts,
  { words: { answers, tag }, reader, now: at }: Speaking,
  { principal, health: { assessing, safeMode: storm } }: Asker & { readonly health: Health },
): Promise<readonly string[]> {
  const { interrupted = 0, held = 0 } = (await store.query('recovery.standing', {})) ?? {};
  const now = assessing.length === 0 ? null : String(assessing.length);
  const until = storm === null ? null : sayInstant(reader, tag, stormEndsAt(storm), at);
  return [
    ...(interrupted === 0 ? [] : [answers.interrupted({ count: String(interrupted), now, until })]),
    // An admin alone sees and wakes those of other conversations (B-8).
    ...(held === 0 || !principal.isAdmin ? [] : [answers.heldEverywhere(String(held))]),
  ];
}

/** What its reader may see and only a person lets go on, each with its way out. */
async function sayDecisions(
  parts: EngineParts,
  { words }: Speaking,
  { asker, open }: { readonly asker: Asker; readonly open: readonly TaskRecord[] },
): Promise<readonly string[]> {
  const { store } = parts;
  const seen = open.filter((task) => task.enrollment === 'current' && maySee(asker, task));
  const byId = new Map(seen.map((task) => [task.id, task]));
  const asked = await store.query('approval.list', OPEN_APPROVALS);
  const questions = asked.flatMap(({ id, kind, taskId }) => {
    const task = kind === 'uncertain' ? byId.get(taskId) : undefined;
    return task === undefined ? [] : [itemOf(task, 'uncertain_effect', `/approve ${id}`)];
  });
  const tasks = seen.filter(needsPerson).map((task) => {
    // A question is answered in words, and `why` says which it is.
    const way = task.waitKind === 'answer' ? `/why ${task.id}` : waysOf(task)[0]?.command;
    return itemOf(task, task.reason ?? task.state, way ?? null);
  });
  // A paused conversation holds back whatever is asked in it.
  const paused = await sayPaused(parts, words, asker);
  const items = [...paused, ...[...questions, ...tasks].map((item) => sayReported(words, item))];
  if (items.length === 0) return [];
  const more = items.length - LIMITS.namedMax;
  return [
    words.answers.decisions,
    ...items.slice(0, LIMITS.namedMax),
    ...(more > 0 ? [words.answers.more(String(more))] : []),
  ];
}

const OPEN_APPROVALS = {
  state: 'open',
  conversationId: '',
  before: ABOVE_ALL_IDS,
  limit: LIMITS.listLimitMax,
} as const;

function itemOf(
  { mandateText: request }: TaskRecord,
  code: string,
  command: string | null,
): ReportedItem {
  return { code, request, command };
}

/** Every other wait ends by itself or has its own question. */
function needsPerson({ state, waitKind }: TaskRecord): boolean {
  if (state === 'waiting') return waitKind === 'answer' || waitKind === 'approval';
  return state === 'blocked' || state === 'paused';
}

function sayCounts({ answers, states }: Catalogue, open: readonly TaskRecord[]): string {
  if (open.length === 0) return answers.openNone;
  const counts = Map.groupBy(open, ({ state }) => state);
  const said = [...counts].map(([state, tasks]) =>
    answers.openCount(String(tasks.length), states[state]),
  );
  const isWhole = open.length < LIMITS.listLimitMax;
  return (isWhole ? answers.open : answers.openAtLeast)(said.join(', '));
}

async function sayHere(
  parts: EngineParts,
  speaking: Speaking,
  conversationId: ConversationId,
): Promise<string> {
  const { store } = parts;
  const { words } = speaking;
  const turn = await store.query('turn.ofConversation', { conversationId });
  const task = turn === undefined ? undefined : await store.query('task.byId', { id: turn.taskId });
  if (turn === undefined || task === undefined) return words.answers.hereNothing;
  return words.answers.here({
    request: quoteRequest(words, task.mandateText),
    id: task.id,
    doing: sayDoing(speaking, await readTurnDoing(parts, turn)),
  });
}
