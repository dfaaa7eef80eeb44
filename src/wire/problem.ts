import { z } from 'zod';

/** `application/problem+json` (RFC 9457) with the stable `code` that callers branch on. */
export const ProblemReply = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  outcome: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('of `receipt_used`: what the order came to when it was given first'),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type ProblemReply = z.infer<typeof ProblemReply>;
