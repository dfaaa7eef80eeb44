import { z } from 'zod';
import { readDeadline } from '../kernel/deadline.ts';
import { LIMITS } from '../kernel/limits.ts';
import { idShape, InstantShape, PAGE_QUERY } from './shape.ts';

/** What a waiting task waits for. */
export const WaitShape = z.object({
  kind: z.string(),
  id: z.string().optional(),
  until: InstantShape.nullable(),
  question: z.string().optional(),
});
export type WaitShape = z.infer<typeof WaitShape>;

const TASK_STATES = [
  'active',
  'waiting',
  'paused',
  'blocked',
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
] as const;

/** Where a record belongs: to ongoing work, to history that sleeps, or, of an import, to neither yet. */
export const ENROLLMENTS = ['current', 'held-legacy', 'unmarked'] as const;

const BudgetShape = z.object({ limit: z.number(), used: z.number() });

export const EvidenceShape = z.object({
  kind: z.enum(['uncertain', 'effect', 'worker', 'message']),
  stepId: z.string().optional(),
  tool: z.string().optional(),
  at: InstantShape,
  text: z.string(),
});
export type EvidenceShape = z.infer<typeof EvidenceShape>;

export const DoingShape = z.object({
  kind: z.enum(['queued', 'tool', 'model', 'retry', 'between', 'cut']),
  since: InstantShape,
  step: z.int().optional().describe('counted in its turn'),
  tool: z.string().optional().describe('that is called'),
  calls: z.int().optional().describe('of a model, made for this step'),
  callsMax: z.int().optional(),
  code: z.string().optional().describe('why the last call of a model gave no answer'),
  nextAt: InstantShape.optional().describe('when the next call goes out'),
});
export type DoingShape = z.infer<typeof DoingShape>;

export const TaskReply = z.object({
  id: idShape('task_'),
  conversationId: idShape('conv_'),
  agent: z.string(),
  state: z.enum(TASK_STATES),
  reason: z.string().nullable(),
  enrollment: z.enum(ENROLLMENTS),
  mandate: z.object({
    text: z.string(),
    principal: z.string(),
    origin: z.string(),
    at: InstantShape,
    hash: z.string(),
  }),
  checkpoint: z
    .object({ lastStepId: z.string(), at: InstantShape, note: z.string().nullable() })
    .nullable()
    .describe('the last step with a recorded outcome, and what the task noted; not in lists'),
  evidence: z.array(EvidenceShape).describe('empty in lists'),
  doing: DoingShape.nullable().describe('what is done for it now; null unless it is active'),
  waitsFor: WaitShape.nullable(),
  held: z
    .object({ state: z.string(), reason: z.string().nullable(), waitsFor: WaitShape.nullable() })
    .nullable()
    .describe('how it stood before the boundary set it aside; null unless it is held'),
  deadline: InstantShape.nullable(),
  budgets: z.object({
    turns: BudgetShape,
    tokens: BudgetShape,
    costUsd: BudgetShape,
    continuations: BudgetShape,
    deadline: InstantShape.nullable(),
  }),
  recovery: z.object({
    epoch: z.int(),
    attempts: z.int().describe('assessments of this epoch, counted when they are reserved'),
    lifetimeAttempts: z.int(),
    nextAttemptAt: InstantShape.nullable().describe('no assessment begins before it'),
    state: z
      .enum(['none', 'needed', 'granted', 'followed'])
      .describe('`needed`: it goes on only when an assessment says so'),
    outcome: z
      .enum(['reserved', 'failed', 'invalid', 'continue', 'end', 'inconclusive'])
      .nullable()
      .describe('what the last assessment of this epoch came to; `reserved`: not known'),
  }),
  version: z.int(),
  createdAt: InstantShape,
  changedAt: InstantShape,
  endedAt: InstantShape.nullable(),
});
export type TaskReply = z.infer<typeof TaskReply>;

export const TASK_QUERY = {
  state: z.enum(TASK_STATES).optional(),
  enrollment: z.enum(ENROLLMENTS).optional(),
  conversation: z.string().optional(),
  ...PAGE_QUERY,
} as const;

export const TaskEventItem = z.object({
  id: z.string(),
  type: z.string(),
  at: InstantShape,
  by: z.string(),
  from: z.string().optional(),
  to: z.string().optional(),
  reason: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
});
export type TaskEventItem = z.infer<typeof TaskEventItem>;

/** A command exactly as it is typed; who may give it and what it does are in words. */
export const CommandShape = z.object({ command: z.string(), who: z.string(), effect: z.string() });
export type CommandShape = z.infer<typeof CommandShape>;

export const WhyReply = z.object({
  sentence: z.string(),
  chain: z.array(z.string()),
  commands: z.array(CommandShape),
});
export type WhyReply = z.infer<typeof WhyReply>;

/** What every order to a task may carry: the version that was read, and a receipt of the order. */
export const TaskOrderBody = z.strictObject({
  expectedVersion: z.int().min(1).optional(),
  receiptId: z.string().min(1).max(128).optional(),
});
export type TaskOrderBody = z.infer<typeof TaskOrderBody>;

export const TaskResumeBody = TaskOrderBody.extend({
  late: z.boolean().optional().describe('carry out an order whose own time has passed'),
});
export type TaskResumeBody = z.infer<typeof TaskResumeBody>;

const MAX = LIMITS.grantMax;

export const TaskExtendBody = TaskOrderBody.extend({
  turns: z.int().min(1).max(MAX.turns).optional().describe('further turns'),
  tokens: z.int().min(1).max(MAX.tokens).optional().describe('further tokens'),
  costUsd: z.number().min(0.000_001).max(MAX.costUsd).optional().describe('further dollars'),
  continuations: z
    .int()
    .min(1)
    .max(MAX.continuations)
    .optional()
    .describe('further continuations in a row'),
  deadline: z
    .string()
    .refine((text) => readDeadline(text) !== undefined, 'an instant, or an addition like +2d')
    .optional()
    .describe('an ISO instant with its zone, or an addition: `+90m`, `+12h`, `+2d`'),
}).refine(
  ({ turns, tokens, costUsd, continuations, deadline }) =>
    [turns, tokens, costUsd, continuations, deadline].some((grant) => grant !== undefined),
  'at least one of turns, tokens, costUsd, continuations, deadline',
);
export type TaskExtendBody = z.infer<typeof TaskExtendBody>;

export const TaskStoppedReply = TaskReply.extend({
  running: z.array(z.string()).describe('calls that are being ended, by tool name or `model`'),
});
export type TaskStoppedReply = z.infer<typeof TaskStoppedReply>;
