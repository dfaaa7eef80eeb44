import { OPERATION_REASONS, waysOfOperation } from '../../core/maintenance/reasons.ts';
import { BLOCK_REASONS } from '../../core/maintenance/record.ts';
import { REASONS, waysOf, type ReasonEntry } from '../../core/notice/reasons.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { TaskReason } from '../../core/task/moves.ts';
import type { Engine } from '../../engine/engine.ts';
import { isId, type OutboxId } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import type { Instant } from '../../kernel/time.ts';
import { renderStoredNotice } from '../../text/render.ts';
import type { OutboxReply } from '../../wire/status.ts';
import { iso } from '../call.ts';

/** Ends safe mode. */
export const SAFE_MODE_OFF = '/safe-mode off';

/** What an outbox entry says: a text as it was written, host speech in the host's language. */
export function wordsOf(engine: Engine, row: OutboxRecord): string {
  if (row.kind !== 'notice' || row.code === null) return row.text ?? '';
  return sayStored(engine, row.code, row.params, row.at);
}

/**
 * A notice of any code in the host's language; `params` is the JSON text of its parameters, `at` when it
 * was written, without it now.
 */
export function sayStored(
  { parts }: Engine,
  code: string,
  params: string | null,
  at: Instant = parts.clock.now(),
): string {
  const { locale, timeZone } = parts.options;
  return renderStoredNotice({ locale, timeZone }, code, params, at);
}

/** What resolves the host's own notices. */
const OF_HOST: Readonly<Record<string, string>> = {
  clock_distrusted: '/clock confirm',
  held_legacy: '/tasks held',
  safe_mode: SAFE_MODE_OFF,
};

/** The command that a notice names; null where nothing waits for a person. */
export function commandOf({
  code,
  taskId,
  params,
}: Pick<OutboxRecord, 'code' | 'taskId' | 'params'>): string | null {
  if (code !== null && Object.hasOwn(OF_HOST, code)) return OF_HOST[code] ?? null;
  const { approvalId } = readObject(params);
  if (typeof approvalId === 'string') return `/approve ${approvalId}`;
  return admissionOf(code, params) ?? wayOfTask({ code, taskId, params });
}

function wayOfTask({
  code,
  taskId,
  params,
}: Pick<OutboxRecord, 'code' | 'taskId' | 'params'>): string | null {
  const known = Object.entries(REASONS).find(([, { notice }]) => notice === code);
  if (known === undefined || taskId === null || !isId('task', taskId)) return null;
  const [reason, { state }] = known as [TaskReason, ReasonEntry];
  // As the task stood when it was told: what there was to grant is in the notice.
  const ways = waysOf({ id: taskId, state, reason, waitId: null, outcomeData: params });
  return ways[0]?.command ?? null;
}

/** The command that opens the operation of a blocked notice, as it stood when it was told. */
function admissionOf(code: string | null, params: string | null): string | null {
  const reason = BLOCK_REASONS.find((one) => OPERATION_REASONS[one].notice === code);
  const { operationId: id, kind } = readObject(params);
  if (reason === undefined || typeof id !== 'string' || !isId('operation', id)) return null;
  const told = kind === 'handover' ? 'handover' : 'compact';
  const ways = waysOfOperation({ id, kind: told, state: 'blocked', reason });
  return ways[0]?.command ?? null;
}

/** What an entry is about: the approval that it asks for, as the list of what waits names it too. */
export function subjectOf({
  subjectId,
  params,
}: Pick<OutboxRecord, 'subjectId' | 'params'>): string | null {
  const { approvalId } = readObject(params);
  return typeof approvalId === 'string' ? approvalId : subjectId;
}

export async function readSpeech(
  engine: Engine,
  id: OutboxId | null,
): Promise<OutboxRecord | undefined> {
  return id === null ? undefined : engine.store.query('outbox.byId', { id });
}

export function viewOutbox(engine: Engine, row: OutboxRecord): OutboxReply {
  const { id, conversationId, kind, state, taskId, runId, level, code } = row;
  return {
    id,
    conversationId,
    kind,
    state,
    ...(level === null ? {} : { level }),
    ...(code === null ? {} : { code }),
    text: wordsOf(engine, row),
    subjectId: subjectOf(row),
    taskId,
    runId,
    at: iso(row.at),
  };
}
