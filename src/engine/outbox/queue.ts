import type { OutboxRecord, NoticeLevel } from '../../core/outbox/record.ts';
import type { ConversationId, OutboxId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Ledger } from '../session/ledger.ts';

export interface NoticeOrder {
  readonly conversationId: ConversationId;
  /** The stable delivery id, derived from the transition that caused it (O-1, O-6). */
  readonly key: string;
  readonly level: NoticeLevel;
  readonly code: string;
  readonly params: JsonObject;
  readonly subjectId: string;
  readonly taskId: string | null;
  readonly runId: string | null;
}

export interface TextOrder {
  readonly conversationId: ConversationId;
  readonly key: string;
  readonly kind: 'reply' | 'answer';
  readonly text: string;
  readonly subjectId: string;
  readonly taskId: string | null;
  readonly runId: string | null;
}

/** Queues host speech in the transition that caused it; rendered when it is read. */
export function queueNotice(ledger: Ledger, order: NoticeOrder): OutboxId {
  const id = ledger.at.ids.next('outbox');
  const { taskId, runId, level, code } = order;
  const event = ledger.event('notice.queued', {
    taskId,
    runId,
    data: { outboxId: id, level, code },
  });
  put(ledger, event.seq, {
    id,
    conversationId: order.conversationId,
    key: order.key,
    kind: 'notice',
    level,
    code,
    params: JSON.stringify(order.params),
    text: null,
    subjectId: order.subjectId,
    taskId,
    runId,
  });
  return id;
}

/** Queues a model's answer or the host's answer to a command. */
export function queueText(ledger: Ledger, order: TextOrder): OutboxId {
  const id = ledger.at.ids.next('outbox');
  const { taskId, runId, conversationId, key, kind, text, subjectId } = order;
  const event =
    kind === 'reply'
      ? ledger.event('reply.queued', { taskId, runId, data: { outboxId: id } })
      : ledger.event('command.answered', { data: { messageId: subjectId, outboxId: id } });
  const words = { level: null, code: null, params: null, text };
  put(ledger, event.seq, { id, conversationId, key, kind, ...words, subjectId, taskId, runId });
  return id;
}

type Content = Omit<OutboxRecord, 'seq' | 'state' | 'at' | 'deliveredAt'>;

// Terminal and API fetch what they are owed: the commit that makes an entry readable delivers it (O-3).
function put(ledger: Ledger, seq: number, content: Content): void {
  const now = ledger.at.now;
  ledger.add({
    write: 'outbox.insert',
    row: { ...content, seq, state: 'delivered', at: now, deliveredAt: now },
  });
}
