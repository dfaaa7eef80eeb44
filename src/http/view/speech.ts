import { REASONS, typeCommand } from '../../core/notice/reasons.ts';
import type { OutboxRecord } from '../../core/outbox/record.ts';
import type { Engine } from '../../engine/engine.ts';
import type { OutboxId } from '../../kernel/ids.ts';
import { renderStoredNotice } from '../../text/render.ts';
import type { OutboxReply } from '../../wire/status.ts';
import { iso } from '../call.ts';

/** What an outbox entry says: a text as it was written, host speech in the host's language. */
export function wordsOf({ parts }: Engine, row: OutboxRecord): string {
  if (row.kind !== 'notice' || row.code === null) return row.text ?? '';
  const { locale, timeZone } = parts.options;
  return renderStoredNotice({ locale, timeZone }, row.code, row.params);
}

/** The command that a notice names; null where nothing waits for a person. */
export function commandOf({ code, taskId }: Pick<OutboxRecord, 'code' | 'taskId'>): string | null {
  const reason = Object.values(REASONS).find(({ notice }) => notice !== null && notice === code);
  const way = reason?.ways[0];
  return way === undefined || taskId === null ? null : typeCommand(way, taskId);
}

export async function readSpeech(
  engine: Engine,
  id: OutboxId | null,
): Promise<OutboxRecord | undefined> {
  return id === null ? undefined : engine.store.query('outbox.byId', { id });
}

export function viewOutbox(engine: Engine, row: OutboxRecord): OutboxReply {
  const { id, conversationId, kind, state, subjectId, taskId, runId, level, code } = row;
  return {
    id,
    conversationId,
    kind,
    state,
    ...(level === null ? {} : { level }),
    ...(code === null ? {} : { code }),
    text: wordsOf(engine, row),
    subjectId,
    taskId,
    runId,
    at: iso(row.at),
  };
}
