import { z } from 'zod';
import { lastDays, turnAt, type Day } from '../engine/budget/days.ts';
import type { Engine } from '../engine/engine.ts';
import { LIMITS } from '../kernel/limits.ts';
import { USAGE_QUERY, UsageReply } from '../wire/usage.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { problem } from './problems.ts';
import { sumUsage, viewTaskUsage, viewUsage } from './view/usage.ts';

const UsageQuery = z.strictObject(USAGE_QUERY);
const DAYS_DEFAULT = 7;
const TASKS_SHOWN = 20;

async function usage({ door, query }: Call<z.infer<typeof UsageQuery>>): Promise<Response> {
  const { engine } = door;
  const { timeZone } = engine.parts.options;
  const days = lastDays(askDays(query.days), engine.parts.clock.now(), timeZone);
  const read = await Promise.all(days.map((day) => readDay(engine, day)));
  const from = turnAt(days.at(-1)?.from ?? 0);
  const to = turnAt(days[0]?.to ?? 0);
  const tasks = await engine.store.query('usage.byTask', { from, to, limit: TASKS_SHOWN });
  return reply(200, {
    timeZone,
    days: read.map(({ day, rows }) => ({
      day: day.name,
      ...sumUsage(rows),
      models: rows.map(viewUsage),
    })),
    tasks: tasks.map(viewTaskUsage),
    total: sumUsage(read.flatMap(({ rows }) => rows)),
  } satisfies UsageReply);
}

async function readDay(engine: Engine, day: Day) {
  const range = { day: day.name, from: turnAt(day.from), to: turnAt(day.to) };
  return { day, rows: await engine.store.query('usage.ofRange', range) };
}

function askDays(days: string | undefined): number {
  const count = days === undefined ? DAYS_DEFAULT : Number(days);
  if (count >= 1 && count <= LIMITS.usageDaysMax) return count;
  const detail = `days is a whole number from 1 to ${LIMITS.usageDaysMax}.`;
  throw problem('bad_request', { detail });
}

export const USAGE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/usage',
    need: 'admin',
    summary: 'Tokens and money by day, model and task, of every key',
    query: UsageQuery,
    replies: { 200: { what: 'The usage', shape: UsageReply } },
    handle: usage,
  }),
];
