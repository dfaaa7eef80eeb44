// What interrupted work and restored records met, noted from what was committed.
import type { EventRecord } from '../../src/core/session/record.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { Notes } from './notes.ts';
import { dataOf } from './dump.ts';
import type { Sometime } from './sometimes.ts';

type Reached = Notes['reached'];

export function noteRecovery(reached: Reached, event: EventRecord, unit: CommittedUnit): void {
  BY_EVENT[event.type]?.(reached, event, unit);
}

type Noted = (reached: Reached, event: EventRecord, unit: CommittedUnit) => void;

const BY_EVENT: Readonly<Record<string, Noted>> = {
  'assessment.reserved': (reached) => reached('assessment_reserved'),
  'assessment.ended': (reached, event) => {
    const { outcome, code, nextAt } = dataOf(event);
    reached(`assessment_${String(outcome)}` as Sometime);
    if (code === 'http_429' && Number(nextAt) > event.at + 61_000) reached('assessment_delayed');
  },
  'recovery.state': (reached, event) => {
    const { recovery } = dataOf(event);
    if (recovery === 'followed') reached('recovery_followed');
    if (recovery === 'none') reached('recovery_passed');
  },
  'recovery.reset': (reached) => reached('recovery_reset'),
  'task.held': () => undefined,
  'task.enrolled': (reached, event) => {
    reached(dataOf(event)['by'] === 'resume' ? 'enrolled' : 'boundary_kept');
  },
  'run.failed': (reached, event) => {
    if (dataOf(event)['code'] === 'held_legacy') reached('run_held');
  },
  'task.moved': (reached, event) => {
    const { wait, absent } = dataOf(event);
    if (event.reason !== 'interrupted') return;
    if (wait === 'provider') reached('assessment_unreached');
    if (absent === 'void') reached('recovery_void');
  },
};

const BY_NOTICE: Readonly<Record<string, Sometime>> = {
  assessment_missed: 'assessment_missed',
  assessment_unreached: 'unreached_told',
  held_legacy: 'summary_told',
  restart_report: 'report_told',
};

export function noteRecoveryWrite(reached: Reached, write: Write, { unit }: CommittedUnit): void {
  const told = write.write === 'outbox.insert' ? BY_NOTICE[write.row.code ?? ''] : undefined;
  if (told !== undefined) reached(told);
  if (write.write === 'storm.insert') reached('storm_begun');
  if (write.write === 'storm.end' && write.endedBy.startsWith('host:')) reached('storm_calmed');
  if (write.write === 'execution.save' && write.row.enrollment === 'current')
    reached(unit.startsWith('boundary.') ? 'worker_kept' : 'worker_enrolled');
}
