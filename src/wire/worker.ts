import { z } from 'zod';
import { idShape, InstantShape, PAGE_QUERY } from './shape.ts';
import { ENROLLMENTS, TaskOrderBody } from './task.ts';

const WORKER_STATES = [
  'ready',
  'running',
  'retrying',
  'paused',
  'blocked',
  'completed',
  'failed',
  'cancelled',
] as const;

export const WorkerReply = z.object({
  id: idShape('exec_'),
  taskId: idShape('task_').nullable().describe('null: nobody knows whose it is'),
  conversationId: idShape('conv_').nullable(),
  mandateHash: z.string().nullable().describe('of the mandate that it was bound to'),
  enrollment: z.enum(ENROLLMENTS),
  state: z.enum(WORKER_STATES),
  job: z.string(),
  outcome: z.string().nullable().describe('its final reply, or why it failed'),
  deadline: InstantShape.nullable(),
  version: z.int(),
  createdAt: InstantShape,
  changedAt: InstantShape,
  endedAt: InstantShape.nullable(),
});
export type WorkerReply = z.infer<typeof WorkerReply>;

export const WORKER_QUERY = {
  state: z.enum(WORKER_STATES).optional(),
  enrollment: z.enum(ENROLLMENTS).optional(),
  ...PAGE_QUERY,
} as const;

/** What an order to a worker may carry: the same as one to a task. */
export const WorkerOrderBody = TaskOrderBody;
export type WorkerOrderBody = z.infer<typeof WorkerOrderBody>;
