import { REASONS, typeCommand, waysOf } from '../core/notice/reasons.ts';
import type { TaskRecord } from '../core/task/record.ts';
import type { Engine } from '../engine/engine.ts';
import { explainTask } from '../engine/task/why.ts';
import { AttentionReply, HealthReply, StatusReply, type AttentionItem } from '../wire/status.ts';
import { iso, isoOrNull, reply, route, type Call, type Route } from './call.ts';

/** Open tasks that are counted; of more it is said that there are so many. */
export const TASKS_COUNTED = 1_000;
/** More would not be read, and each needs its explanation. */
const ATTENTION_ITEMS = 100;

async function status({ door }: Call): Promise<Response> {
  const { engine } = door;
  const { model, clock } = engine.parts;
  const { state, hostId, startedAt, runningTurns, answeredBy } = engine.health();
  const open = await engine.store.query('task.open', { limit: TASKS_COUNTED });
  const { description, exclusive } = engine.store.traits;
  return reply(200, {
    version: door.version,
    state,
    hostId,
    startedAt: isoOrNull(startedAt),
    at: iso(clock.now()),
    store: { description, exclusive },
    model: {
      provider: model.provider,
      name: model.name,
      price: model.price,
      answeredBy: answeredBy === null ? null : { ...answeredBy, at: iso(answeredBy.at) },
    },
    runningTurns,
    tasks: countTasks(open),
    attention: open.filter(needsPerson).length,
  } satisfies StatusReply);
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

function needsPerson({ reason }: TaskRecord): boolean {
  const level = reason === null ? null : REASONS[reason].level;
  return level !== null && level !== 'info';
}

async function attention({ door }: Call): Promise<Response> {
  const open = await door.engine.store.query('task.open', { limit: TASKS_COUNTED });
  const held = open.filter(needsPerson).slice(0, ATTENTION_ITEMS);
  const items = await Promise.all(held.map((task) => attentionOf(door.engine, task)));
  return reply(200, { items } satisfies AttentionReply);
}

async function attentionOf({ parts }: Engine, task: TaskRecord): Promise<AttentionItem> {
  const { id, state, reason } = task;
  const { locale, timeZone } = parts.options;
  const entry = reason === null ? undefined : REASONS[reason];
  const way = waysOf(state, reason)[0];
  const explanation = await explainTask(parts, id, { locale, timeZone });
  return {
    level: entry?.level ?? 'waiting',
    code: reason ?? state,
    subjectId: id,
    sentence: explanation?.sentence ?? '',
    command: way === undefined ? null : typeCommand(way, id),
  };
}

// What a probe may learn without a key is the state and nothing else: the store's words stay inside.
function readiness({ door }: Call): Response {
  const { state } = door.engine.health();
  if (state === 'ready') return reply(200, { status: 'ready' } satisfies HealthReply);
  const reason = state === 'failed' ? 'store_failed' : state;
  return reply(503, { status: state, reason } satisfies HealthReply);
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
      503: { what: 'Starting, draining or failed', shape: HealthReply },
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
