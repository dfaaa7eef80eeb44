import type { MessageRecord } from '../../core/inbox/record.ts';
import type { Ledger } from '../session/ledger.ts';

/** What is said of an inbox entry when it comes to be. */
export type NewMessage = Omit<
  MessageRecord,
  'seq' | 'state' | 'turnId' | 'claimedSeq' | 'answerId' | 'at'
>;

/** The inbox entry and its event, whose place is the entry's (T-10). */
export function insertMessage(ledger: Ledger, message: NewMessage): void {
  const { id: messageId, taskId, runId } = message;
  const { seq } = ledger.event('message.accepted', { taskId, runId, data: { messageId } });
  const untaken = { state: 'unclaimed', turnId: null, claimedSeq: null, answerId: null } as const;
  const row: MessageRecord = { ...message, ...untaken, seq, at: ledger.at.now };
  ledger.add({ write: 'message.insert', row });
}
