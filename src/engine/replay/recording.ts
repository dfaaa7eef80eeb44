import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { Archived, ArchiveKind, ArchiveRecords } from '../../core/archive/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { ConversationId } from '../../kernel/ids.ts';

/** Kinds of records that belong to one conversation. */
const KINDS = [
  'session',
  'operation',
  'task',
  'run',
  'turn',
  'message',
  'step',
  'event',
  'approval',
  'outbox',
] as const satisfies readonly ArchiveKind[];
type Kind = (typeof KINDS)[number];

/** Everything that is recorded of one conversation. */
export type Recording = {
  readonly [K in Kind]: readonly ArchiveRecords[K][];
} & { readonly conversation: ConversationRecord };

type Gathered = { -readonly [K in Kind]: ArchiveRecords[K][] };

/** Picks the records of one conversation out of all that an installation or an archive has. */
export class RecordingGatherer {
  readonly #id: string;
  #conversation: ConversationRecord | undefined;
  readonly #found: Gathered = {
    session: [],
    operation: [],
    task: [],
    run: [],
    turn: [],
    message: [],
    step: [],
    event: [],
    approval: [],
    outbox: [],
  };

  constructor(id: ConversationId) {
    this.#id = id;
  }

  takeAll(records: readonly Archived[]): void {
    for (const one of records) this.take(one);
  }

  take({ kind, record }: Archived): void {
    if (kind === 'conversation') {
      if (record.id === this.#id) this.#conversation = record;
    } else if (isOfConversation(kind) && 'conversationId' in record) {
      if (record.conversationId === this.#id) (this.#found[kind] as unknown[]).push(record);
    }
  }

  /** Undefined when there is no such conversation. */
  recording(): Recording | undefined {
    const conversation = this.#conversation;
    return conversation === undefined ? undefined : { conversation, ...this.#found };
  }
}

function isOfConversation(kind: ArchiveKind): kind is Kind {
  return (KINDS as readonly ArchiveKind[]).includes(kind);
}

/** The kinds that a gatherer has a use for. */
export const RECORDED_KINDS: readonly ArchiveKind[] = ['conversation', ...KINDS];

/** The approval of a recorded call: its own, or the open one of the same bytes (E-4). */
export function approvalOf(
  recording: Recording,
  call: { readonly tool: string | null; readonly input: string | null; readonly id: string },
): ApprovalRecord | undefined {
  const own = recording.approval.find(({ stepId }) => stepId === call.id);
  if (own !== undefined) return own;
  return recording.approval.findLast(
    ({ kind, tool, input }) => kind === 'call' && tool === call.tool && input === call.input,
  );
}
