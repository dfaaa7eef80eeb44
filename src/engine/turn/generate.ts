import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { HostId, MessageId } from '../../kernel/ids.ts';
import type { EngineParts } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';

export interface GeneratedInput {
  readonly id: MessageId;
  readonly channel: (typeof HOST_CHANNELS)[keyof typeof HOST_CHANNELS];
  /** Unique in its channel: the cause of the input, so that one cause makes one (I-1). */
  readonly externalId: string;
  /** What the model is told; nothing when the session says it all. */
  readonly text: string;
}

/** Whose task it is for, and with what authority it acts. */
export type GeneratedFor = Pick<TurnRecord, 'conversationId' | 'taskId' | 'runId' | 'authority'> & {
  readonly hostId: HostId;
};

/** An input that the host makes for a task: the next turn of it reads it like a person's, with no more authority. */
export function generate(
  parts: Pick<EngineParts, 'digest'>,
  ledger: Ledger,
  { conversationId, taskId, runId, authority, hostId }: GeneratedFor,
  { id, channel, externalId, text }: GeneratedInput,
): void {
  const event = ledger.event('message.accepted', { taskId, runId, data: { messageId: id } });
  ledger.add({
    write: 'message.insert',
    row: {
      id,
      conversationId,
      seq: event.seq,
      channel,
      externalId,
      kind: 'generated',
      principal: `host:${hostId}`,
      authority,
      text,
      bodyHash: parts.digest(text),
      replyTo: null,
      state: 'unclaimed',
      taskId,
      runId,
      turnId: null,
      claimedSeq: null,
      answerId: null,
      at: ledger.at.now,
    },
  });
}
