import type { LimiterRecord } from '../core/budget/record.ts';
import { stormEndsAt } from '../core/recovery/storm.ts';
import type { TaskRecord } from '../core/task/record.ts';
import { modelsOf } from '../engine/budget/standing.ts';
import type { ClockTrust, Engine, Health } from '../engine/engine.ts';
import { readTurnDoing } from '../engine/task/doing.ts';
import type { StoreAlarm } from '../ports/store.ts';
import {
  AttentionReply,
  ClockConfirmBody,
  ClockReply,
  HealthReply,
  SafeModeBody,
  SafeModeReply,
  StatusReply,
  type LimiterReply,
} from '../wire/status.ts';
import { countOperations, countWaiting, readAttention, TASKS_COUNTED } from './attention.ts';
import { iso, isoOrNull, reply, route, type Call, type Door, type Route } from './call.ts';
import { API_CHANNEL } from './orders.ts';
import { refusalProblem } from './problems.ts';
import { limitersOf } from './view/attention.ts';
import { viewDoing } from './view/task.ts';

async function status({ door }: Call): Promise<Response> {
  const { engine } = door;
  const { agents, clock } = engine.parts;
  const { model } = agents[0];
  const health = engine.health();
  const open = await engine.store.query('task.open', { limit: TASKS_COUNTED });
  const waiting = await countWaiting(engine, open);
  const { description, exclusive } = engine.store.traits;
  const { alarm = null } = engine.store;
  return reply(200, {
    version: door.version,
    state: health.state,
    hostId: health.hostId,
    startedAt: isoOrNull(health.startedAt),
    at: iso(clock.now()),
    store: { description, exclusive, alarm: viewAlarm(alarm) },
    model: {
      provider: model.provider,
      name: model.name,
      price: model.price,
      answeredBy: viewAnswered(health),
    },
    runningTurns: health.runningTurns,
    turns: await viewTurns(engine),
    tasks: countTasks(open),
    attention: waiting.all,
    approvals: waiting.approvals,
    clock: viewClock(health.clock),
    safeMode: viewSafeMode(health),
    recovery: await viewRecovery(engine, health),
    maintenance: await viewOperations(engine, health),
    limiters: limitersOf(engine).flatMap((limiter) => viewLimiter(engine, limiter)),
  } satisfies StatusReply);
}

function viewAnswered({ answeredBy }: Health): StatusReply['model']['answeredBy'] {
  return answeredBy === null ? null : { ...answeredBy, at: iso(answeredBy.at) };
}

async function viewTurns(engine: Engine): Promise<StatusReply['turns']> {
  const { parts } = engine;
  const { hostId } = engine.health();
  const limit = parts.options.concurrentConversations;
  const turns = await parts.store.query('turn.openOf', { hostId, limit });
  return Promise.all(
    turns.map(async (turn) => ({
      taskId: turn.taskId,
      conversationId: turn.conversationId,
      startedAt: iso(turn.startedAt),
      doing: viewDoing(await readTurnDoing(parts, turn)),
    })),
  );
}

function viewAlarm(alarm: StoreAlarm | null): StatusReply['store']['alarm'] {
  return alarm === null ? null : { bytes: null, ...alarm, since: iso(alarm.since) };
}

function viewClock({ isTrusted, driftMs, until }: ClockTrust): ClockReply {
  return { trusted: isTrusted, driftMs, until: isoOrNull(until) };
}

function viewSafeMode({ safeMode: storm }: Health): SafeModeReply {
  if (storm === null) return { on: false, since: null, until: null };
  return { on: true, since: iso(storm.since), until: iso(stormEndsAt(storm)) };
}

async function viewRecovery(
  { store }: Engine,
  { assessing }: Health,
): Promise<StatusReply['recovery']> {
  const standing = await store.query('recovery.standing', {});
  const { interrupted = 0, held = 0 } = standing ?? {};
  return { interrupted, assessing: [...assessing], held };
}

async function viewOperations(
  engine: Engine,
  { maintaining }: Health,
): Promise<StatusReply['maintenance']> {
  return { ...(await countOperations(engine)), trying: [...maintaining] };
}

function viewLimiter({ parts }: Engine, limiter: LimiterRecord): readonly LimiterReply[] {
  const { account, state, code, failures, until, since } = limiter;
  if (state === 'open') return [];
  const models = [...modelsOf(parts, account)];
  return [{ account, models, state, code, failures, until: isoOrNull(until), since: iso(since) }];
}

export function countTasks(open: readonly TaskRecord[]): StatusReply['tasks'] {
  const count = (state: string): number => open.filter((task) => task.state === state).length;
  return {
    active: count('active'),
    waiting: count('waiting'),
    paused: count('paused'),
    blocked: count('blocked'),
  };
}

async function attention({ door }: Call): Promise<Response> {
  const items = [...(await readAttention(door.engine))];
  return reply(200, { items } satisfies AttentionReply);
}

async function confirmClock({ door, identity }: Call): Promise<Response> {
  const { principal } = identity;
  const confirmed = await door.engine.confirmClock({ principal, channel: API_CHANNEL });
  if (confirmed.kind === 'refused') throw refusalProblem(door.engine, confirmed);
  return reply(200, viewClock(door.engine.health().clock));
}

async function endSafeMode({ door, identity }: Call): Promise<Response> {
  const { principal } = identity;
  const ended = await door.engine.endSafeMode({ principal, channel: API_CHANNEL });
  if (ended.kind === 'refused') throw refusalProblem(door.engine, ended);
  return reply(200, viewSafeMode(door.engine.health()));
}

// What a probe may learn without a key is the state and nothing else: the store's words stay inside.
async function readiness({ door }: Call): Promise<Response> {
  const { state } = door.engine.health();
  const reason = await whyNotReady(door);
  if (reason === null) return reply(200, { status: state } satisfies HealthReply);
  return reply(503, { status: state, reason } satisfies HealthReply);
}

async function whyNotReady({ engine, storeLook }: Door): Promise<string | null> {
  const { state } = engine.health();
  if (state !== 'ready') return state === 'failed' ? 'store_failed' : state;
  if (engine.store.alarm?.code === 'disk_full') return 'disk_full';
  return (await storeLook.answers()) ? null : 'store_unreachable';
}

async function metrics({ door }: Call): Promise<Response> {
  // A host that nobody measures should not pay for it at start.
  const { renderMetrics } = await import('./metrics.ts');
  const { text, type } = await renderMetrics(door);
  return new Response(text, { headers: { 'Content-Type': type, 'Cache-Control': 'no-store' } });
}

export const STATUS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/status',
    need: 'read',
    summary: 'How the host is',
    replies: { 200: { what: 'The status', shape: StatusReply } },
    handle: status,
  }),
  route({
    method: 'GET',
    path: '/v1/attention',
    need: 'read',
    summary: 'What waits for a person, and what resolves it',
    replies: { 200: { what: 'The list', shape: AttentionReply } },
    handle: attention,
  }),
  route({
    method: 'POST',
    path: '/v1/admin/clock',
    need: 'admin',
    summary: 'Say that the wall clock is right as it stands; 409 while it is trusted',
    body: ClockConfirmBody,
    replies: { 200: { what: 'The clock as it is now', shape: ClockReply } },
    handle: confirmClock,
  }),
  route({
    method: 'POST',
    path: '/v1/admin/safe-mode',
    need: 'admin',
    summary: 'Let the host start work by itself again; 409 while safe mode is off',
    body: SafeModeBody,
    replies: { 200: { what: 'Safe mode as it is now', shape: SafeModeReply } },
    handle: endSafeMode,
  }),
  route({
    method: 'GET',
    path: '/v1/openapi.json',
    need: 'any',
    summary: 'This description',
    replies: { 200: { what: 'An OpenAPI 3.1 document' } },
    handle: async ({ door }) => reply(200, await door.openapi()),
  }),
  route({
    method: 'GET',
    path: '/healthz',
    need: 'none',
    summary: 'The process is alive',
    replies: { 200: { what: 'Alive', shape: HealthReply } },
    handle: () => reply(200, { status: 'alive' } satisfies HealthReply),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    need: 'none',
    summary: 'The host takes work',
    replies: {
      200: { what: 'Ready', shape: HealthReply },
      503: { what: 'Starting, draining, failed, or its store takes nothing', shape: HealthReply },
    },
    handle: readiness,
  }),
  route({
    method: 'GET',
    path: '/metrics',
    need: 'read',
    summary: 'Prometheus metrics',
    replies: { 200: { what: 'The exposition', type: 'text/plain' } },
    handle: metrics,
  }),
];
