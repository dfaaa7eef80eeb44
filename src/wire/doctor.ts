import { z } from 'zod';
import { idShape } from './shape.ts';

export const FindingShape = z.object({
  level: z.enum(['ok', 'warning', 'problem']),
  code: z.string(),
  subjectId: z.string().nullable().describe('what it is about; null of the installation'),
  sentence: z.string(),
  command: z.string().nullable().describe('what changes it, as it is typed'),
  data: z.record(z.string(), z.unknown()).describe('what the sentence was made of; instants in ms'),
});
export type FindingShape = z.infer<typeof FindingShape>;

export const DoctorReply = z.object({
  problems: z.int().describe('how many of the findings are problems'),
  items: z.array(FindingShape),
});
export type DoctorReply = z.infer<typeof DoctorReply>;

export const RepairBody = z.strictObject({ repair: z.literal(true) });
export type RepairBody = z.infer<typeof RepairBody>;

export const RepairReply = z.object({
  tasks: z.array(idShape('task_')).describe('stood still without a reason, and have one now'),
  fences: z
    .array(idShape('conv_'))
    .describe('were held back or not against how their maintenance stands, and are so no more'),
  files: z.array(z.string()).describe('were open to others, and are closed now'),
});
export type RepairReply = z.infer<typeof RepairReply>;
