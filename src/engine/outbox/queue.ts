import type { OutboxRecord, NoticeLevel } from '../../core/outbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
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

/** Puts a notice into the outbox that leaves later, by `releaseNotice`, or never (M-10). */
export function prepareNotice(ledger: Ledger, order: NoticeOrder): OutboxId {
  const id = ledger.at.ids.next('outbox');
  const { level, code } = order;
  const event = ledger.event('notice.prepared', { data: { outboxId: id, level, code } });
  const { now: at } = ledger.at;
  const entry = { ...order, id, kind: 'notice', params: JSON.stringify(order.params) } as const;
  const row = { ...entry, text: null, seq: event.seq, state: 'pending', at } as const;
  ledger.add({ write: 'outbox.insert', row: { ...row, deliveredAt: null } });
  return id;
}

/** Lets a prepared notice leave, at its place from here on; its runs are told too. */
export function releaseNotice(
  ledger: Ledger,
  notice: Pick<NoticeOrder, 'level' | 'code' | 'params'> & { readonly id: OutboxId },
  runs: readonly RunRecord[],
): void {
  const { id, level, code, params } = notice;
  const { seq } = ledger.event('notice.queued', { data: { outboxId: id, level, code } });
  const at = ledger.at.now;
  ledger.add({ write: 'outbox.release', id, seq, at, params: JSON.stringify(params) });
  tellRuns(ledger, id, runs);
}

/** The event by which a run shows a notice of its conversation. */
export function tellRuns(ledger: Ledger, outboxId: OutboxId, runs: readonly RunRecord[]): void {
  for (const { id: runId, taskId } of runs)
    ledger.event('run.told', { taskId, runId, data: { outboxId } });
}

/** A prepared notice never leaves. */
export function withdrawNotice(ledger: Ledger, id: OutboxId): void {
  ledger.event('notice.withdrawn', { data: { outboxId: id } });
  ledger.add({ write: 'outbox.withdraw', id });
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
