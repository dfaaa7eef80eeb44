import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId, MessageId, RunId } from '../../kernel/ids.ts';
import { WAKE_INPUTS } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import type { DueRows } from './due.ts';
import { addMoved } from './move.ts';
import { generateFor, wakeInput, type GeneratedInput } from '../inbox/generate.ts';
import { noticeKey, tellOfTask } from './tell.ts';

/**
 * Lets a task go on whose wait is over (T-6, T-12): it is active, with one generated input. After a
 * wait for the provider the person is told so.
 */
export function wakeTask(
  parts: EngineParts,
  ledger: Ledger,
  rows: DueRows,
  by: { readonly id: MessageId; readonly hostId: HostId; readonly isScout: boolean },
): void {
  const { task, run } = rows;
  const moved = moveTask(task, { to: 'active', reason: null, now: ledger.at.now });
  const runId = run?.id ?? null;
  addMoved(ledger, task, moved, { runId });
  const input = inputOf(task, moved, by);
  generateFor(parts, ledger, { task: moved, run, hostId: by.hostId }, input);
  // One that is sent to find out may find nothing: it is told by its answer.
  if (task.waitKind === 'instant' || by.isScout) return;
  tellGoesOn(ledger, moved, { runId, key: noticeKey(moved.id, moved.version) });
}

/** After a quota or an outage the session as it then is says all: the unfinished call is made anew (T-12). */
function inputOf(
  task: TaskRecord,
  moved: TaskRecord,
  { id, isScout }: { readonly id: MessageId; readonly isScout: boolean },
): GeneratedInput {
  if (task.waitKind === 'instant') return wakeInput(id, moved, WAKE_INPUTS.instant);
  const channel = isScout ? HOST_CHANNELS.scout : HOST_CHANNELS.return;
  return { id, channel, externalId: `${moved.id}:${moved.version}`, text: '' };
}

/** The one notice that a task goes on after a quota or an outage (O-6). */
export function tellGoesOn(
  ledger: Ledger,
  task: TaskRecord,
  { runId, key }: { readonly runId: RunId | null; readonly key: string },
): void {
  tellOfTask(ledger, task, { runId, key, level: 'info', code: 'goes_on' });
}
