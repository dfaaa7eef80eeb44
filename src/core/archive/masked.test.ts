import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { redactor, REDACTED } from '../../kernel/redact.ts';
import {
  auditRow,
  eventRow,
  executionRow,
  messageRow,
  outboxRow,
  sessionRow,
  stepRow,
  taskRow,
} from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { nextEntry, verifyChain } from '../audit/chain.ts';
import type { AuditRecord } from '../audit/record.ts';
import { ArchiveMask } from './masked.ts';
import type { Archived } from './record.ts';

const SECRET = 'sk-live-0123456789abcdef';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function masked(records: readonly Archived[]): readonly Archived[] {
  const mask = new ArchiveMask({ mask: redactor([SECRET]), digest });
  return records.map((one) => mask.apply(one));
}

describe('X-6: on its way out', () => {
  test('no text of a record keeps a known secret', () => {
    const records: readonly Archived[] = [
      { kind: 'message', record: messageRow({ text: `take ${SECRET}`, replyTo: SECRET }) },
      { kind: 'step', record: stepRow({ input: `{"key":"${SECRET}"}`, output: SECRET }) },
      { kind: 'event', record: eventRow({ data: `{"text":"${SECRET}"}` }) },
      { kind: 'outbox', record: outboxRow({ text: SECRET, params: `{"request":"${SECRET}"}` }) },
      {
        kind: 'execution',
        record: executionRow({ outcome: Buffer.from(SECRET).toString('base64') }),
      },
    ];
    const said = JSON.stringify(masked(records));
    assert.ok(!said.includes(SECRET));
    assert.ok(!said.includes(Buffer.from(SECRET).toString('base64').slice(0, 20)));
    assert.equal(said.split(REDACTED).length - 1, 8);
  });

  test('no seed, fault or work keeps one, and each can still be read', () => {
    const quoted = `He said "${SECRET}".`;
    const seed = JSON.stringify({ summary: quoted, conditions: [{ at: 1, text: quoted }] });
    const work = JSON.stringify({ cutSeq: 3, doneSeq: 2, summary: quoted, conditions: [] });
    const fault = JSON.stringify({ code: 'http_500', said: quoted });
    const [session, operation] = masked([
      { kind: 'session', record: sessionRow({ seed }) },
      { kind: 'operation', record: operationRow({ work, fault }) },
    ]);
    const left = quoted.replace(SECRET, REDACTED);
    assert.ok(session?.kind === 'session' && operation?.kind === 'operation');
    assert.deepEqual(JSON.parse(session.record.seed ?? ''), {
      summary: left,
      conditions: [{ at: 1, text: left }],
    });
    assert.deepEqual(JSON.parse(operation.record.fault ?? ''), { code: 'http_500', said: left });
    const { summary } = JSON.parse(operation.record.work ?? '') as { readonly summary: string };
    assert.equal(summary, left);
  });

  test('a record without one stays the very same', () => {
    const records: readonly Archived[] = [
      { kind: 'task', record: taskRow() },
      { kind: 'audit', record: auditRow() },
      { kind: 'execution', record: executionRow() },
    ];
    for (const [place, one] of masked(records).entries()) assert.equal(one, records[place]);
  });

  test('a masked mandate has the hash of what is left, and so have its workers', () => {
    const mandateText = `log in with ${SECRET}`;
    const mandateHash = digest(mandateText);
    const [task, worker, other] = masked([
      { kind: 'task', record: taskRow({ mandateText, mandateHash }) },
      { kind: 'execution', record: executionRow({ mandateHash }) },
      { kind: 'execution', record: executionRow({ mandateHash: digest('x') }) },
    ]);
    const left = digest(`log in with ${REDACTED}`);
    assert.equal(task?.kind === 'task' ? task.record.mandateHash : '', left);
    assert.equal(worker?.kind === 'execution' ? worker.record.mandateHash : '', left);
    assert.equal(other?.kind === 'execution' ? other.record.mandateHash : '', digest('x'));
  });

  test('a masked message has the hash of what is left', () => {
    const [one] = masked([{ kind: 'message', record: messageRow({ text: SECRET }) }]);
    assert.equal(one?.kind === 'message' ? one.record.bodyHash : '', digest(REDACTED));
  });

  test('a log of admin actions that held one is chained anew from there on', () => {
    const entries: AuditRecord[] = [];
    for (const subjectId of ['a', SECRET, 'c']) {
      const { at, principal, channel, action } = auditRow();
      const entry = { at, principal, channel, action, subjectId, before: {}, after: {} };
      entries.push(nextEntry(entries.at(-1), entry, digest));
    }
    const out = masked(entries.map((record) => ({ kind: 'audit', record })));
    const log = out.flatMap((one) => (one.kind === 'audit' ? [one.record] : []));
    assert.equal(log[0], entries[0]);
    assert.equal(log[1]?.subjectId, REDACTED);
    assert.equal(log[1]?.previousHash, entries[0]?.hash);
    assert.equal(verifyChain(log, digest).kind, 'whole');
  });
});
