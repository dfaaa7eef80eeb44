import { z } from 'zod';
import { idShape, InstantShape } from './shape.ts';
import { DoingShape } from './task.ts';

export const OutboxReply = z.object({
  id: idShape('out_'),
  conversationId: idShape('conv_'),
  kind: z.enum(['reply', 'notice', 'answer']),
  state: z.enum(['pending', 'delivered', 'uncertain', 'undeliverable', 'stale']),
  level: z.string().optional(),
  code: z.string().optional(),
  text: z.string(),
  subjectId: z.string().nullable(),
  taskId: z.string().nullable(),
  runId: z.string().nullable(),
  at: InstantShape,
});
export type OutboxReply = z.infer<typeof OutboxReply>;

export const AttentionItem = z.object({
  level: z.enum(['info', 'waiting', 'blocked', 'escalation']),
  code: z.string(),
  subjectId: z.string(),
  sentence: z.string(),
  command: z.string().nullable(),
  taskId: idShape('task_').nullable().describe('the task that it is about'),
});
export type AttentionItem = z.infer<typeof AttentionItem>;

export const AttentionReply = z.object({ items: z.array(AttentionItem) });
export type AttentionReply = z.infer<typeof AttentionReply>;

const AnsweredByShape = z
  .object({ provider: z.string(), model: z.string(), at: InstantShape })
  .nullable();

export const ClockReply = z.object({
  trusted: z.boolean(),
  driftMs: z.number().describe('from the uptime clock or the last commit; positive is ahead'),
  until: InstantShape.nullable().describe('believed again then without a confirmation'),
});
export type ClockReply = z.infer<typeof ClockReply>;

export const ClockConfirmBody = z.strictObject({ confirm: z.literal(true) });
export type ClockConfirmBody = z.infer<typeof ClockConfirmBody>;

export const SafeModeReply = z.object({
  on: z.boolean(),
  since: InstantShape.nullable().describe('the start that began it'),
  until: InstantShape.nullable().describe('over then if no unclean end is found before'),
});
export type SafeModeReply = z.infer<typeof SafeModeReply>;

export const SafeModeBody = z.strictObject({ on: z.literal(false) });
export type SafeModeBody = z.infer<typeof SafeModeBody>;

export const LimiterReply = z.object({
  account: z.string().describe('provider, address and a digest of the key'),
  models: z.array(z.string()).describe('who is asked through it, as `provider/name`'),
  state: z.enum(['limited', 'down', 'refused']),
  code: z.string().nullable().describe('what the provider said last'),
  failures: z.int().describe('in a row'),
  until: InstantShape.nullable(),
  since: InstantShape,
});
export type LimiterReply = z.infer<typeof LimiterReply>;

export const StatusReply = z.object({
  version: z.string(),
  state: z.enum(['starting', 'ready', 'draining', 'failed', 'stopped']),
  hostId: idShape('host_'),
  startedAt: InstantShape.nullable(),
  at: InstantShape,
  store: z.object({
    description: z.string(),
    exclusive: z.boolean(),
    alarm: z
      .object({
        code: z.string(),
        bytes: z.number().nullable().describe('of a log that is large'),
        since: InstantShape,
      })
      .nullable()
      .describe('what a person should look at'),
  }),
  model: z.object({
    provider: z.string(),
    name: z.string(),
    price: z.enum(['free', 'costs-money', 'unpriced']),
    answeredBy: AnsweredByShape.describe('as the provider reported it'),
  }),
  runningTurns: z.int(),
  turns: z
    .array(
      z.object({
        taskId: idShape('task_'),
        conversationId: idShape('conv_'),
        startedAt: InstantShape,
        doing: DoingShape,
      }),
    )
    .describe('the turns of this host, and what each does now'),
  tasks: z
    .object({ active: z.int(), waiting: z.int(), paused: z.int(), blocked: z.int() })
    .describe('open tasks; counted up to 1000'),
  attention: z.int().describe('what waits for a person; counted up to 1000'),
  approvals: z.int().describe('open ones; counted up to 200'),
  clock: ClockReply,
  safeMode: SafeModeReply.describe('while it is on the host starts nothing by itself'),
  recovery: z
    .object({
      interrupted: z.int().describe('tasks that wait for the check whether they go on'),
      assessing: z.array(idShape('task_')).describe('those of them that are checked now'),
      held: z.int().describe('older tasks that an admin alone wakes'),
    })
    .describe('what was interrupted, and what is history'),
  maintenance: z
    .object({
      running: z.int(),
      waiting: z.int(),
      blocked: z.int(),
      trying: z.array(idShape('mop_')).describe('those of them whose step is tried here now'),
    })
    .describe('maintenance operations that are not over'),
  limiters: z.array(LimiterReply).describe('accounts of models that cannot be asked freely now'),
});
export type StatusReply = z.infer<typeof StatusReply>;

export const HealthReply = z.object({ status: z.string(), reason: z.string().optional() });
export type HealthReply = z.infer<typeof HealthReply>;
