import { z } from 'zod';
import { readDays, readLargest, sumUsed } from '../engine/budget/usage.ts';
import { LIMITS } from '../kernel/limits.ts';
import { USAGE_QUERY, UsageReply } from '../wire/usage.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { problem } from './problems.ts';
import { viewTaskUsage, viewUsage, viewUsed } from './view/usage.ts';

const UsageQuery = z.strictObject(USAGE_QUERY);
const DAYS_DEFAULT = 7;
const TASKS_SHOWN = 20;

async function usage({ door, query }: Call<z.infer<typeof UsageQuery>>): Promise<Response> {
  const { parts } = door.engine;
  const days = await readDays(parts, askDays(query.days), parts.clock.now());
  const [last, first] = [days[0]?.day, days.at(-1)?.day];
  const tasks =
    first === undefined || last === undefined
      ? []
      : await readLargest(parts, { first, last }, TASKS_SHOWN);
  return reply(200, {
    timeZone: parts.options.timeZone,
    days: days.map(({ day, rows }) => ({
      day: day.name,
      ...viewUsed(sumUsed(rows)),
      models: rows.map(viewUsage),
    })),
    tasks: tasks.map(viewTaskUsage),
    total: viewUsed(sumUsed(days.flatMap(({ rows }) => rows))),
  } satisfies UsageReply);
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
