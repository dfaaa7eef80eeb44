import type { ConversationId, OutboxId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Decision, Store } from '../../ports/store.ts';
import { Ledger } from '../session/ledger.ts';
import { mayPass } from './answers.ts';
import { entriesOf, fitOf } from './decided.ts';
import { dataIn, wordIn, type Entry } from './entry.ts';
import type { Names } from './names.ts';
import type { Trace } from './trace.ts';

/** Notices that tell one conversation of the whole installation: its records alone do not lead to them. */
const OF_INSTALLATION: ReadonlySet<unknown> = new Set([
  'restart_report',
  'safe_mode',
  'safe_mode_over',
  'clock_distrusted',
  'clock_trusted',
]);
/** The units that tell them: what they would tell of one conversation alone is another thing. */
const TELLING: ReadonlySet<string> = new Set(['report.tell', 'lease.tell']);

export function isElsewhere(unit: string): boolean {
  return TELLING.has(unit);
}

/** Whether an entry tells of the whole installation. */
export function isOfInstallation({ type, facts }: Entry): boolean {
  return type === 'notice.queued' && OF_INSTALLATION.has(dataIn({ facts })['code']);
}

/**
 * Whether other conversations led to an entry: a provider was known to be away before this one asked it, so that a
 * call was not made, or another model was asked before the tries of the first were used up.
 */
export function isLedElsewhere(trace: Trace, { type, facts }: Entry): boolean {
  if (type === 'model.finished') {
    const isParked = trace.turn(wordIn(facts, 'turnId'))?.end === 'parked';
    return facts['state'] === 'cut' && isParked;
  }
  if (type !== 'model.retried') return false;
  const data = dataIn({ facts });
  return mayPass(wordIn(data, 'code')) && Number(data['tries']) <= LIMITS.modelRetriesMax + 1;
}

/** Writes such a notice as it was recorded. */
export async function takeOver(
  store: Store,
  of: { readonly trace: Trace; readonly names: Names; readonly next: Entry },
): Promise<boolean> {
  const { trace, names, next } = of;
  const { recording } = trace;
  const data = dataIn(next);
  const told = recording.outbox.find(({ id }) => id === data['outboxId']);
  const conversationId = names.own(recording.conversation.id) as ConversationId | undefined;
  if (told === undefined || conversationId === undefined) return false;
  let decision: Decision<boolean> | undefined;
  await store.commit({
    name: 'replay.take',
    reads: { conversation: { read: 'conversation.byId', args: { id: conversationId } } },
    decide: ({ conversation }, at) => {
      if (conversation === undefined) return { verdict: false, writes: [] };
      const ledger = new Ledger(conversation, at, names.translate(next.by ?? ''));
      const id: OutboxId = at.ids.next('outbox');
      const about = JSON.parse(names.translate(JSON.stringify({ ...data, outboxId: id })));
      const { seq } = ledger.event('notice.queued', { data: about });
      const row = JSON.parse(names.translate(JSON.stringify(told)));
      ledger.add({ write: 'outbox.insert', row: { ...row, id, conversationId, seq } });
      decision = { verdict: true, writes: ledger.close() };
      return decision;
    },
  });
  if (decision === undefined) return false;
  const comparison = names.compare();
  fitOf([next], entriesOf(decision.writes), comparison);
  comparison.keep();
  return true;
}
