import type { ConversationId, HostId, OutboxId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import { findReader } from '../outbox/told.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import type { ClockNews } from './clock.ts';

/** Whose clock, and which of its news. */
export interface ClockTelling {
  readonly hostId: HostId;
  /** 1, 2, 3 … in this process: what the notice is about (O-6). */
  readonly count: number;
}

/**
 * Tells of the clock in the newest conversation that a person reads, in one commit. Undefined where there
 * is none: then the log and `/attention` show it.
 */
export async function tellOfClock(
  parts: EngineParts,
  news: ClockNews,
  telling: ClockTelling,
): Promise<ConversationId | undefined> {
  const id = await findReader(parts);
  if (id === undefined) return undefined;
  let earlier: OutboxId | undefined;
  await settle(parts, () =>
    tellUnit(
      { id, earlier },
      (ledger) => {
        earlier = queueNotice(ledger, {
          conversationId: id,
          key: `notice:clock:${telling.hostId}:${telling.count}`,
          level: news.code === 'clock_trusted' ? 'info' : 'escalation',
          code: news.code,
          params: { drift: news.drift },
          subjectId: telling.hostId,
          taskId: null,
          runId: null,
        });
      },
      telling.hostId,
    ),
  );
  return id;
}

type TellReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly earlier?: Read<'outbox.byId'>;
};

/** `earlier` is what a try before this one queued: it may have been committed unseen. */
function tellUnit(
  { id, earlier }: { readonly id: ConversationId; readonly earlier: OutboxId | undefined },
  queue: (ledger: Ledger) => void,
  hostId: HostId,
): Unit<TellReads, void> {
  return {
    name: 'lease.tell',
    reads: {
      conversation: { read: 'conversation.byId', args: { id } },
      ...(earlier === undefined ? {} : { earlier: { read: 'outbox.byId', args: { id: earlier } } }),
    },
    decide: ({ conversation, earlier: known }, at) => {
      if (conversation === undefined || known !== undefined)
        return { verdict: undefined, writes: [] };
      const ledger = new Ledger(conversation, at, hostName(hostId));
      queue(ledger);
      return { verdict: undefined, writes: ledger.close() };
    },
  };
}
