import type { MessageRecord } from '../../core/inbox/record.ts';
import type { OutboxId } from '../../kernel/ids.ts';
import type { Ledger } from '../session/ledger.ts';

/** Closes what a turn has read: the answer to it is this entry. What was said since stays for the next. */
export function closeClaimed(
  ledger: Ledger,
  messages: readonly MessageRecord[],
  answerId: OutboxId,
): void {
  const claimed = messages.filter(({ state }) => state === 'claimed');
  closeAll(ledger, claimed, answerId);
}

/** Closes everything that a task had: it has ended, nothing of it is taken up any more. */
export function closeAll(
  ledger: Ledger,
  messages: readonly MessageRecord[],
  answerId: OutboxId,
): void {
  for (const { id } of messages) ledger.add({ write: 'message.done', id, answerId });
}
