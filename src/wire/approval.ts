import { z } from 'zod';
import { idShape, InstantShape, PAGE_QUERY } from './shape.ts';

const APPROVAL_STATES = ['open', 'approved', 'denied', 'expired'] as const;

export const ShownShape = z.object({
  argv: z.array(z.string()),
  folder: z.string(),
  env: z.record(z.string(), z.string()),
  files: z
    .array(z.object({ path: z.string(), hash: z.string().nullable() }))
    .describe('the executable and the workspace files that argv names; no hash: it is not there'),
});
export type ShownShape = z.infer<typeof ShownShape>;

export const ApprovalReply = z.object({
  id: idShape('appr_'),
  conversationId: idShape('conv_'),
  taskId: idShape('task_'),
  runId: idShape('run_').nullable(),
  kind: z
    .enum(['call', 'uncertain'])
    .describe('`uncertain`: a new call after one whose outcome is not known'),
  tool: z.string(),
  shown: ShownShape.describe('every byte that runs'),
  state: z.enum(APPROVAL_STATES),
  approver: z.enum(['any', 'other']).describe('`other`: not the one who asked'),
  mayAnswer: z.boolean().describe('whether the key that asks may answer it now'),
  requestedBy: z.string(),
  decidedBy: z.string().nullable(),
  at: InstantShape,
  expiresAt: InstantShape,
  decidedAt: InstantShape.nullable(),
});
export type ApprovalReply = z.infer<typeof ApprovalReply>;

export const ApprovalAnsweredReply = ApprovalReply.extend({
  runs: z
    .enum(['now', 'later'])
    .nullable()
    .describe('when the call runs; `later`: it is kept until its task goes on; null: never'),
});
export type ApprovalAnsweredReply = z.infer<typeof ApprovalAnsweredReply>;

export const APPROVAL_QUERY = {
  state: z.enum(APPROVAL_STATES).optional(),
  conversation: z.string().optional(),
  ...PAGE_QUERY,
} as const;

export const ApprovalAnswerBody = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  receiptId: z.string().min(1).max(128).optional(),
});
export type ApprovalAnswerBody = z.infer<typeof ApprovalAnswerBody>;
