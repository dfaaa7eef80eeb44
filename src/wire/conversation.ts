import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';
import { MaintenanceShape } from './maintenance.ts';
import { idShape, InstantShape, KEPT_TEXT } from './shape.ts';

export const ConversationCreateBody = z.strictObject({
  channel: z.enum(['terminal', 'api']).optional().describe('`api` without it'),
  address: z
    .string()
    .regex(/^[\w.@:-]{1,128}$/)
    .optional()
    .describe('the same channel and address give the same conversation'),
  agent: z.string().min(1).max(64).optional().describe('another than the default agent'),
});
export type ConversationCreateBody = z.infer<typeof ConversationCreateBody>;

export const ConversationReply = z.object({
  id: idShape('conv_'),
  agent: z.string(),
  channel: z.string(),
  address: z.string(),
  sessionId: idShape('sess_'),
  model: z.object({
    provider: z.string(),
    name: z.string(),
    chosen: z.boolean().describe('by `/model`; otherwise it is the one of the agent'),
  }),
  turn: z
    .object({ id: idShape('turn_'), taskId: idShape('task_'), startedAt: InstantShape })
    .nullable()
    .describe('the turn that has the conversation'),
  state: z.enum(['idle', 'running']),
  fence: z
    .enum(['none', 'shut', 'blocked', 'passed'])
    .describe('`shut`, `blocked`: no turn begins; `passed`: none has been completed since'),
  operationId: idShape('mop_').nullable().describe('the operation that the fence is of'),
  maintenance: MaintenanceShape.nullable().describe('null while no operation stands before it'),
  lastEventId: idShape('evt_')
    .nullable()
    .optional()
    .describe('the newest kept event, to stream on from here; not in lists'),
  createdAt: InstantShape,
});
export type ConversationReply = z.infer<typeof ConversationReply>;

export const TranscriptItem = z.object({
  seq: z.int(),
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
  toolCallId: z.string().optional(),
  tool: z.string().optional(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), args: z.string() })).optional(),
  taskId: idShape('task_').nullable(),
  at: InstantShape,
});
export type TranscriptItem = z.infer<typeof TranscriptItem>;

export const MessageCreateBody = z.strictObject({
  text: z.string().min(1).max(LIMITS.messageCharsMax).describe(KEPT_TEXT),
  replyTo: z.string().min(1).max(128).optional(),
});
export type MessageCreateBody = z.infer<typeof MessageCreateBody>;

export const MessageCreatedReply = z.object({
  messageId: idShape('msg_'),
  conversationId: idShape('conv_'),
});
export type MessageCreatedReply = z.infer<typeof MessageCreatedReply>;

export const MessageReply = z.object({
  id: idShape('msg_'),
  conversationId: idShape('conv_'),
  state: z.enum(['unclaimed', 'claimed', 'done', 'held']),
  text: z.string(),
  taskId: idShape('task_').nullable(),
  runId: idShape('run_').nullable(),
  answer: z.string().nullable(),
  answerId: idShape('out_')
    .nullable()
    .describe('of the answer, as the outbox and the streams have it; one can answer several'),
  at: InstantShape,
});
export type MessageReply = z.infer<typeof MessageReply>;
