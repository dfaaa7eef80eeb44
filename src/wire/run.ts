import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';
import { idShape, InstantShape, KEPT_TEXT } from './shape.ts';
import { WaitShape } from './task.ts';

const RUN_STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;

const TextShape = z.string().min(1).max(LIMITS.messageCharsMax).describe(KEPT_TEXT);

export const RunCreateBody = z.strictObject({
  input: TextShape,
  conversation: z.string().optional().describe('an existing one; without it one is made'),
  wait: z
    .number()
    .min(0)
    .max(LIMITS.httpWaitSecondsMax)
    .optional()
    .describe('seconds in which an ended run is answered with 200'),
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((given) => Object.keys(given).length <= 16, 'at most 16 entries')
    .optional(),
  callbackUrl: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional(),
});
export type RunCreateBody = z.infer<typeof RunCreateBody>;

export const RunCreatedReply = z.object({
  id: idShape('run_'),
  status: z.enum(RUN_STATUSES),
  conversationId: idShape('conv_'),
  taskId: idShape('task_'),
  waitsFor: WaitShape.optional().describe('of a waiting run'),
});
export type RunCreatedReply = z.infer<typeof RunCreatedReply>;

export const OutcomeShape = z.object({ code: z.string(), message: z.string() });
export type OutcomeShape = z.infer<typeof OutcomeShape>;

export const UsageShape = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable().describe('null when a price is not known'),
});
export type UsageShape = z.infer<typeof UsageShape>;

export const RunReply = RunCreatedReply.extend({
  output: z.string().nullable(),
  outcome: OutcomeShape.nullable().describe('of a failed or cancelled run'),
  later: z
    .object({ taskState: z.string() })
    .optional()
    .describe('the run has ended and its task has not ended with it'),
  metadata: z.record(z.string(), z.string()).nullable(),
  usage: UsageShape,
  createdAt: InstantShape,
  endedAt: InstantShape.nullable(),
});
export type RunReply = z.infer<typeof RunReply>;

export const RunMessageBody = z.strictObject({ text: TextShape });
export type RunMessageBody = z.infer<typeof RunMessageBody>;
