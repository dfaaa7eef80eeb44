import { reasonEntry, waysOf } from '../../core/notice/reasons.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { ABOVE_ALL_IDS } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { EngineParts, Finding } from '../engine.ts';
import { requestOf } from '../task/mandate.ts';
import { finding } from './findings.ts';
import type { Patient } from './patient.ts';

/** Silent tasks that are named; whether there are more is found by reading one more. */
const SILENT_NAMED = 100;
/** Open tasks that are looked through. */
const OPEN_MAX = 1_000;

/** Tasks that stand still without a reason, and those that the boundary holds. */
export async function findTasks({ parts }: Patient): Promise<readonly Finding[]> {
  const { store } = parts;
  const silent = await store.query('task.silent', { limit: SILENT_NAMED + 1 });
  const named = silent.slice(0, SILENT_NAMED).map(silentOf);
  const more = silent.length > SILENT_NAMED ? [finding('tasks_silent_more', { more: 1 })] : [];
  const open = await store.query('task.open', { limit: OPEN_MAX });
  const sound = silent.length === 0 ? [finding('tasks_sound', { open: open.length })] : [];
  return [...sound, ...named, ...more, ...(await findHeld(parts))];
}

function silentOf(task: TaskRecord): Finding {
  const { id: taskId, changedAt: since } = task;
  return finding('task_silent', { request: requestOf(task), taskId, since }, taskId);
}

async function findHeld({ store }: EngineParts): Promise<readonly Finding[]> {
  const { held = 0 } = (await store.query('recovery.standing', {})) ?? {};
  if (held === 0) return [];
  const newest = await store.query('task.list', {
    state: 'blocked',
    enrollment: 'held-legacy',
    conversationId: '',
    before: ABOVE_ALL_IDS,
    limit: LIMITS.namedMax,
  });
  return [finding('tasks_held', { held, tasks: newest.map(({ id }) => id) })];
}

/** Blocked tasks whose one notice stands nowhere that somebody reads it. */
export async function findUntold({ parts }: Patient): Promise<readonly Finding[]> {
  const open = await parts.store.query('task.open', { limit: OPEN_MAX });
  const blocked = open.filter(
    ({ state, enrollment, reason }) =>
      state === 'blocked' && enrollment === 'current' && reasonEntry(reason)?.notice != null,
  );
  const found: Finding[] = [];
  for (const task of blocked) if (!(await wasTold(parts, task))) found.push(untoldOf(task));
  return found;
}

function untoldOf(task: TaskRecord): Finding {
  const { id: taskId, reason } = task;
  const command = waysOf(task)[0]?.command ?? null;
  return finding('notice_untold', { request: requestOf(task), taskId, reason, command }, taskId);
}

/** Pages of one conversation's outbox that are looked through; of what lies further back nothing is said. */
const PAGES_MAX = 5;

async function wasTold({ store }: EngineParts, task: TaskRecord): Promise<boolean> {
  const { conversationId, createdAt } = task;
  const limit = LIMITS.listLimitMax;
  let before: string = ABOVE_ALL_IDS;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const entries = await store.query('outbox.list', { conversationId, state: '', before, limit });
    if (entries.some((entry) => tells(entry, task))) return true;
    const last = entries.at(-1);
    if (last === undefined || entries.length < limit || last.at < createdAt) return false;
    before = last.id;
  }
  return true;
}

/** What is uncertain or could not leave has reached nobody for all that is known. */
function tells({ kind, code, subjectId, state }: OutboxRecord, task: TaskRecord): boolean {
  const isOf = kind === 'notice' && subjectId === task.id;
  const isNotice = isOf && code === reasonEntry(task.reason)?.notice;
  return isNotice && state !== 'undeliverable' && state !== 'uncertain';
}
