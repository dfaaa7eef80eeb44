import { z } from 'zod';
import type { TaskRecord } from '../core/task/record.ts';
import { readDoing } from '../engine/task/doing.ts';
import { explainTask } from '../engine/task/why.ts';
import { PAGE_QUERY, pageShape } from '../wire/shape.ts';
import { TASK_QUERY, TaskEventItem, TaskReply, WhyReply } from '../wire/task.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { ORDER_ROUTES } from './orders.ts';
import {
  askLimit,
  askPage,
  badCursor,
  cutPage,
  mapPage,
  sievedPage,
  type PageQuery,
} from './page.ts';
import { problem } from './problems.ts';
import { demandTask, TASK_ROWS, wholeTask } from './task-of.ts';
import { viewEvent, viewStep, viewTask } from './view/task.ts';

const TaskQuery = z.strictObject(TASK_QUERY);
async function listTasks(call: Call<z.infer<typeof TaskQuery>>): Promise<Response> {
  const { door, identity, query } = call;
  const { state = '', enrollment = '', conversation: conversationId = '' } = query;
  const ask = askPage(query, 'task');
  const { store } = door.engine;
  const filter = { state, enrollment, conversationId };
  const page = identity.scopes.has('read')
    ? cutPage(
        await store.query('task.list', { ...filter, ...ask, limit: ask.limit + 1 }),
        ask.limit,
      )
    : await sievedPage<TaskRecord>(
        ask,
        ({ mandatePrincipal }) => mandatePrincipal === identity.name,
        (part) => store.query('task.list', { ...filter, ...part }),
      );
  const { parts } = door.engine;
  const view = async (task: TaskRecord): Promise<TaskReply> =>
    viewTask(task, await readDoing(parts, task));
  return reply(200, await mapPage(page, view));
}

async function listEvents(call: Call<PageQuery>): Promise<Response> {
  const { id: taskId, conversationId } = await demandTask(call);
  const limit = askLimit(call.query);
  const before = askPlace(call.query.cursor);
  const asked = { conversationId, taskId, limit: TASK_ROWS };
  const { store } = call.door.engine;
  const [events, steps] = await Promise.all([
    store.query('event.ofTask', asked),
    store.query('step.ofTask', asked),
  ]);
  const lines = [
    ...events.map((event) => ({ seq: event.seq, item: viewEvent(event) })),
    ...steps.flatMap(viewStep),
  ];
  const below = lines.filter(({ seq }) => seq < before).toSorted((a, b) => b.seq - a.seq);
  const items = below.slice(0, limit);
  const nextCursor = below.length > limit ? String(items.at(-1)?.seq ?? 0) : null;
  return reply(200, { items: items.map(({ item }) => item), nextCursor });
}

function askPlace(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

async function why(call: Call): Promise<Response> {
  const { id } = await demandTask(call);
  const { parts } = call.door.engine;
  const { locale, timeZone } = parts.options;
  const explanation = await explainTask(parts, id, { locale, timeZone });
  if (explanation === undefined) throw problem('not_found');
  const { sentence, chain, commands } = explanation;
  return reply(200, { sentence, chain: [...chain], commands: [...commands] } satisfies WhyReply);
}

export const TASK_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/tasks',
    need: 'any',
    summary: 'Tasks, newest first; without the scope `read` the own ones',
    query: TaskQuery,
    replies: { 200: { what: 'A page', shape: pageShape(TaskReply) } },
    handle: listTasks,
  }),
  route({
    method: 'GET',
    path: '/v1/tasks/{id}',
    need: 'any',
    summary: 'One task',
    replies: { 200: { what: 'The task', shape: TaskReply } },
    handle: async (call) => reply(200, await wholeTask(call, await demandTask(call))),
  }),
  route({
    method: 'GET',
    path: '/v1/tasks/{id}/events',
    need: 'any',
    summary: 'What happened to a task, newest first',
    query: z.strictObject(PAGE_QUERY),
    replies: { 200: { what: 'A page', shape: pageShape(TaskEventItem) } },
    handle: listEvents,
  }),
  route({
    method: 'GET',
    path: '/v1/tasks/{id}/why',
    need: 'any',
    summary: 'Why a task stands where it stands, and what leaves that state',
    replies: { 200: { what: 'The explanation', shape: WhyReply } },
    handle: why,
  }),
  ...ORDER_ROUTES,
];
