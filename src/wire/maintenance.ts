import { z } from 'zod';
import { idShape, InstantShape, PAGE_QUERY } from './shape.ts';
import { CommandShape } from './task.ts';

const OPERATION_STATES = ['running', 'waiting', 'blocked', 'done', 'dropped'] as const;
const BLOCK_REASONS = ['exhausted', 'uncertain', 'base_too_large'] as const;

/** Tokens of the parts of a request that does not fit the window, however short the conversation is. */
const SizesShape = z.object({
  window: z.int(),
  reserve: z.int().describe('kept for the answer'),
  instructions: z.int(),
  tools: z.int(),
  seed: z.int(),
  message: z.int(),
});

export const OperationReply = z.object({
  id: idShape('mop_'),
  conversationId: idShape('conv_'),
  sessionId: idShape('sess_').describe('the session that is shortened or archived'),
  nextSessionId: idShape('sess_').nullable().describe('of a handover, once it is known'),
  kind: z.enum(['compact', 'handover']),
  step: z.enum(['compact', 'summarise', 'archive-link', 'rotate', 'seed']),
  state: z.enum(OPERATION_STATES),
  reason: z.enum(BLOCK_REASONS).nullable().describe('of a blocked one'),
  epoch: z.int(),
  failures: z.int().describe('of this epoch'),
  lifetimeFailures: z.int(),
  nextAttemptAt: InstantShape.nullable().describe('no step is tried before it'),
  fault: z
    .object({ code: z.string(), said: z.string() })
    .nullable()
    .describe('what its last failed step said'),
  sizes: SizesShape.nullable().describe('in tokens; of `base_too_large`'),
  sentence: z.string().describe('how it stands'),
  commands: z.array(CommandShape).describe('what leaves a blocked one; empty for any other'),
  version: z.int(),
  createdAt: InstantShape,
  changedAt: InstantShape,
  endedAt: InstantShape.nullable(),
});
export type OperationReply = z.infer<typeof OperationReply>;

export const OPERATION_QUERY = {
  state: z
    .enum([...OPERATION_STATES, 'open'])
    .optional()
    .describe('`open`: running, waiting or blocked'),
  conversation: z.string().optional(),
  ...PAGE_QUERY,
} as const;

export const AdmitBody = z.strictObject({
  contractVersion: z.literal(1),
  expectedVersion: z.int().min(1).describe('of the operation, as it was read'),
  receiptId: z.string().min(1).max(128).describe('used once'),
  as: z.literal('handover').optional().describe('of an uncertain compact, and of no other'),
});
export type AdmitBody = z.infer<typeof AdmitBody>;

/** How the upkeep of one conversation's context stands. */
export const MaintenanceShape = z.object({
  operationId: idShape('mop_'),
  state: z.enum(OPERATION_STATES),
  reason: z.enum(BLOCK_REASONS).nullable(),
  failures: z.int().describe('of this epoch'),
  lifetimeFailures: z.int(),
  nextAttemptAt: InstantShape.nullable(),
  version: z.int(),
  commands: z.array(CommandShape).describe('what leaves a blocked one; empty for any other'),
});
export type MaintenanceShape = z.infer<typeof MaintenanceShape>;

export const SessionReply = z.object({
  id: idShape('sess_'),
  conversationId: idShape('conv_'),
  startedAt: InstantShape,
  endedAt: InstantShape.nullable(),
  previousId: idShape('sess_').nullable().describe('of a handover: the session before it'),
  nextId: idShape('sess_').nullable().describe('of a handover: the session that goes on from it'),
  compactions: z.int(),
  cutSeq: z
    .int()
    .describe('what is up to this place of the conversation is told to the model by the summary'),
  summary: z.string().nullable().describe('as a model wrote it; null while there is none'),
  conditions: z
    .array(z.object({ at: InstantShape, text: z.string() }))
    .describe('words of a person that hold from then on, quoted'),
  isCurrent: z.boolean().describe('whether new work of the conversation begins in it'),
});
export type SessionReply = z.infer<typeof SessionReply>;
