// What maintenance of sessions met, noted from what was committed.
import type { EventRecord } from '../../src/core/session/record.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import { isEndedByFence } from './invariants-maintenance.ts';
import type { Notes } from './notes.ts';
import { dataOf } from './dump.ts';
import type { Sometime } from './sometimes.ts';

type Reached = Notes['reached'];

export function noteUpkeep(reached: Reached, unit: CommittedUnit): void {
  for (const write of unit.writes) {
    if (write.write === 'event.insert') BY_EVENT[write.row.type]?.(reached, write.row, unit);
    else noteWrite(reached, write, unit);
  }
}

type Noted = (reached: Reached, event: EventRecord, unit: CommittedUnit) => void;

const BY_EVENT: Readonly<Record<string, Noted>> = {
  'operation.started': (reached, event, { writes }) => {
    const { cause } = dataOf(event);
    reached(`upkeep_${String(cause)}` as Sometime);
    const isInTurn = writes.some(
      (write) => write.write === 'message.insert' && write.row.channel === 'maintenance',
    );
    if (isInTurn) reached('overflow_in_turn');
  },
  'operation.moved': (reached, event) => {
    const { fromState, toState, reason } = event;
    if (fromState === 'done') reached('reopened');
    if (toState === 'waiting') reached('upkeep_waited');
    if (toState === 'dropped') reached('upkeep_dropped');
    if (toState === 'blocked' && reason !== null) reached(BLOCKED[reason] ?? 'upkeep_exhausted');
  },
  'operation.admitted': (reached, event) => {
    if (dataOf(event)['kind'] === 'handover' && dataOf(event)['step'] === 'summarise')
      reached('reconciled');
  },
  'session.started': (reached, event) => {
    if (dataOf(event)['previousId'] == null) reached('fresh_session');
  },
  'session.compacted': (reached) => reached('compacted'),
  'session.seeded': (reached) => reached('handed_over'),
  'notice.withdrawn': (reached) => reached('waiting_withdrawn'),
  'run.told': (reached) => reached('run_told'),
};

const BLOCKED: Readonly<Record<string, Sometime>> = {
  exhausted: 'upkeep_exhausted',
  uncertain: 'upkeep_uncertain',
  base_too_large: 'upkeep_too_large',
};

const BY_NOTICE: Readonly<Record<string, Sometime>> = {
  maintenance_over: 'over_told',
  maintenance_kept: 'kept_told',
};

function noteWrite(reached: Reached, write: Write, { writes }: CommittedUnit): void {
  if (write.write === 'outbox.insert') {
    const told = BY_NOTICE[write.row.code ?? ''];
    if (told !== undefined) reached(told);
  }
  if (write.write === 'outbox.release') reached('waiting_told');
  if (write.write === 'operation.save') noteSave(reached, write.row);
  if (write.write !== 'run.end' || !isEndedByFence(write)) return;
  reached('run_ended_by_block');
  if (writes.some((one) => one.write === 'run.insert')) reached('run_behind_block');
}

function noteSave(
  reached: Reached,
  { work, attemptAt, state, quotaWaits }: Extract<Write, { write: 'operation.save' }>['row'],
): void {
  const { doneSeq } = JSON.parse(work ?? '{}') as { readonly doneSeq?: number };
  if (doneSeq !== undefined && attemptAt !== null) reached('in_pieces');
  if (state === 'waiting' && quotaWaits > 0) reached('upkeep_paused');
}
