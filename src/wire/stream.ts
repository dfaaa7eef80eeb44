import { z } from 'zod';
import { OutcomeShape } from './run.ts';
import { idShape, InstantShape } from './shape.ts';

/** What each kept event of a stream has; `id` is also the SSE id. */
const Kept = {
  id: idShape('evt_'),
  at: InstantShape,
  runId: z.string().nullable(),
  taskId: z.string().nullable(),
};
/** Live only: without an id, so that a resume never starts at one. */
const LiveOnly = { at: InstantShape, runId: z.string().nullable(), taskId: z.string().nullable() };

export const StreamEvent = z.discriminatedUnion('type', [
  z.object({ ...Kept, type: z.literal('run.queued') }),
  z.object({ ...Kept, type: z.literal('run.started') }),
  z.object({
    ...Kept,
    type: z.literal('model.selected'),
    provider: z.string(),
    model: z.string(),
  }),
  z.object({
    ...Kept,
    type: z.literal('tool.started'),
    stepId: z.string(),
    tool: z.string(),
    args: z.unknown(),
  }),
  z.object({
    ...Kept,
    type: z.literal('tool.finished'),
    stepId: z.string(),
    tool: z.string(),
    result: z.string().optional(),
    error: z.object({ code: z.string(), text: z.string() }).optional(),
  }),
  z.object({
    ...Kept,
    type: z.literal('notice'),
    level: z.string(),
    code: z.string(),
    subjectId: z.string().nullable(),
    sentence: z.string(),
    command: z.string().nullable(),
  }),
  z.object({
    ...Kept,
    type: z.literal('approval.asked'),
    approvalId: z.string(),
    tool: z.string(),
  }),
  z.object({
    ...Kept,
    type: z.literal('approval.decided'),
    approvalId: z.string(),
    state: z.string(),
  }),
  z.object({
    ...Kept,
    type: z.literal('message'),
    messageId: z.string(),
    role: z.enum(['user', 'assistant']),
    text: z.string(),
  }),
  z.object({ ...Kept, type: z.literal('run.completed'), output: z.string() }),
  z.object({ ...Kept, type: z.literal('run.failed'), outcome: OutcomeShape }),
  z.object({ ...Kept, type: z.literal('run.cancelled'), outcome: OutcomeShape }),
  z.object({ ...LiveOnly, type: z.literal('text.delta'), text: z.string() }),
  z.object({ ...LiveOnly, type: z.literal('text.snapshot'), text: z.string() }),
]);
export type StreamEvent = z.infer<typeof StreamEvent>;

export const RUN_END_EVENTS: readonly string[] = ['run.completed', 'run.failed', 'run.cancelled'];
