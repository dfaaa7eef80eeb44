import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';
import { UsageShape } from './run.ts';
import { idShape } from './shape.ts';

const CountedShape = UsageShape.extend({
  costUsd: z
    .number()
    .nullable()
    .describe('of the calls with a known price; null when none has one'),
  calls: z.int(),
  unpricedCalls: z.int().describe('calls whose price is not known: their cost is not counted'),
});

export const UsageReply = z.object({
  timeZone: z.string().describe('whose midnight begins a day'),
  days: z
    .array(
      CountedShape.extend({
        day: z.string().regex(/^\d{4}-\d\d-\d\d$/),
        models: z
          .array(
            CountedShape.extend({ provider: z.string().nullable(), model: z.string().nullable() }),
          )
          .describe('as the providers name them; what maintenance used is under `summaries`'),
      }),
    )
    .describe('newest first; a day without a call is there too'),
  tasks: z
    .array(
      CountedShape.extend({
        taskId: idShape('task_'),
        conversationId: idShape('conv_'),
        request: z.string(),
      }),
    )
    .describe('the tasks that used most tokens in these days'),
  total: CountedShape,
});
export type UsageReply = z.infer<typeof UsageReply>;

export const USAGE_QUERY = {
  days: z
    .string()
    .regex(/^\d{1,2}$/)
    .optional()
    .describe(`1 to ${LIMITS.usageDaysMax}, today included; 7 without it`),
} as const;
