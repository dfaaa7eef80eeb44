import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import { moveTask } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { HostId, MessageId } from '../../kernel/ids.ts';
import { WAKE_INPUTS } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import { queueNotice } from '../outbox/queue.ts';
import type { Ledger } from '../session/ledger.ts';
import type { GeneratedInput } from '../turn/generate.ts';
import type { DueRows } from './due.ts';
import { addMoved, tellReason } from './expire.ts';
import { requestOf } from './mandate.ts';
import { generateFor, wakeInput } from './resume.ts';

/**
 * Lets a task go on whose wait is over (T-6, T-12): it is active, with one generated input. After a
 * wait for the provider the person is told so.
 */
export function wakeTask(
  parts: EngineParts,
  ledger: Ledger,
  rows: DueRows,
  by: { readonly id: MessageId; readonly hostId: HostId },
): void {
  const { task, run } = rows;
  const moved = moveTask(task, { to: 'active', reason: null, now: ledger.at.now });
  addMoved(ledger, rows, moved);
  const input = inputOf(task, moved, by.id);
  generateFor(parts, ledger, { task: moved, run, hostId: by.hostId }, input);
  if (task.waitKind !== 'instant') tellGoesOn(ledger, rows, moved);
}

/** A wait that the host did not see through: an assessment says whether it may go on. */
export function interruptWait(ledger: Ledger, rows: DueRows): void {
  const reason = 'interrupted';
  const tools: readonly string[] = [];
  const moved = moveTask(rows.task, {
    to: 'waiting',
    reason,
    now: ledger.at.now,
    wait: { kind: 'assessment', id: null, until: null },
    outcomeData: JSON.stringify({ tools }),
  });
  addMoved(ledger, rows, moved, { wait: 'assessment' });
  tellReason(ledger, rows, moved, { tools });
}

/** After a quota or an outage the session as it then is says all: the unfinished call is made anew (T-12). */
function inputOf(task: TaskRecord, moved: TaskRecord, id: MessageId): GeneratedInput {
  if (task.waitKind === 'instant') return wakeInput(id, moved, WAKE_INPUTS.instant);
  return { id, channel: HOST_CHANNELS.wake, externalId: `${moved.id}:${moved.version}`, text: '' };
}

function tellGoesOn(ledger: Ledger, { run }: DueRows, moved: TaskRecord): void {
  const { id: taskId, conversationId, version } = moved;
  queueNotice(ledger, {
    conversationId,
    key: `notice:${taskId}:${version}`,
    level: 'info',
    code: 'goes_on',
    params: { request: requestOf(moved), taskId },
    subjectId: taskId,
    taskId,
    runId: run?.id ?? null,
  });
}
