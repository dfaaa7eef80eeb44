import type { ApprovalId, ConversationId, RunId, TaskId, TurnId } from '../../kernel/ids.ts';
import type { Instant } from '../../kernel/time.ts';

/** `denied` is also the end of one whose task ended before it was answered. */
export const APPROVAL_MOVES = {
  open: ['approved', 'denied', 'expired'],
  approved: [],
  denied: [],
  expired: [],
} as const satisfies Record<string, readonly string[]>;
export type ApprovalState = keyof typeof APPROVAL_MOVES;

/** What a person is shown of a call, and what runs: every byte of it (E-4, E-6). */
export type Shown = {
  readonly argv: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The executable and the workspace files that argv names; `hash` is null for one that is not there. */
  readonly files: readonly { readonly path: string; readonly hash: string | null }[];
};

/** One call that a person is asked about, until it is answered once (E-4). */
export interface ApprovalRecord {
  readonly id: ApprovalId;
  readonly conversationId: ConversationId;
  readonly taskId: TaskId;
  readonly runId: RunId | null;
  readonly turnId: TurnId;
  /** The step of the call that was not run, or whose outcome is unknown. */
  readonly stepId: string;
  /** `call`: a tool that needs approval. `uncertain`: a new call of the same bytes after an unknown outcome (E-2). */
  readonly kind: 'call' | 'uncertain';
  readonly tool: string;
  /** The raw text of the call's arguments. */
  readonly input: string;
  /** `Shown` as canonical JSON: compared byte for byte before the call runs. */
  readonly shown: string;
  /** `other`: the requester's own answer is refused (E-6). */
  readonly approver: 'any' | 'other';
  readonly state: ApprovalState;
  /** `principalName` of whose task it is, and of who answered. */
  readonly requestedBy: string;
  readonly decidedBy: string | null;
  readonly at: Instant;
  readonly expiresAt: Instant;
  readonly decidedAt: Instant | null;
}
