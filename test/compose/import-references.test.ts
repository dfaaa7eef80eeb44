// Files whose records do not fit one another or the installation, and that nothing of them is stored.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import type { AnyField } from '../../src/core/archive/field.ts';
import type { Archived } from '../../src/core/archive/record.ts';
import { ARCHIVE_SHAPES } from '../../src/core/archive/shape.ts';
import { idOf } from '../../src/testing/store-rows.ts';
import { bring, fileOf, sqlitePlace } from '../support/archive.ts';
import {
  changed,
  closeTarget,
  dumpOf,
  nothingStored,
  openTarget,
  placeOf,
  RECORDS,
  refuses,
} from '../support/import-target.ts';

before(openTarget);
after(closeTarget);

describe('a file is refused whole whose', () => {
  test('records refer to what is not in it', async () => {
    let looked = 0;
    for (const [at, { kind, record }] of RECORDS.entries()) {
      for (const [name, field] of Object.entries(
        ARCHIVE_SHAPES[kind] as Record<string, AnyField>,
      )) {
        const values = record as unknown as Record<string, unknown>;
        if (field.is !== 'id' || field.to === null || values[name] === null) continue;
        // What it would be refused for stands further down and is refused before.
        if (kind === 'conversation' && (name === 'turnId' || record.fence !== 'none')) continue;
        const other = idOf(field.of, 999);
        const file = fileOf(changed(at, { [name]: other }));
        const problem = new RegExp(`the ${field.to} ${other}, which is not in the file`);
        await refuses(file, { line: at + 2, problem }, `${kind}.${name}`);
        looked += 1;
      }
    }
    assert.ok(looked > 40, `${looked} looked at`);
    await nothingStored();
  });

  test('records refer to what only the installation has', async () => {
    const own = { conversationId: idOf('conversation', 900) };
    const file = fileOf(changed(placeOf('event'), own));
    await refuses(file, { line: placeOf('event') + 2, problem: /not in the file/ });
    await nothingStored();
  });

  test('records refer to those of another conversation', async () => {
    const at = placeOf('turn');
    const file = fileOf(changed(at, { taskId: idOf('task', 2) }));
    await refuses(file, { line: at + 2, problem: /task .*, which is of another conversation/ });
    const later = placeOf('message');
    const answer = fileOf(changed(later, { answerId: idOf('outbox', 20) }));
    await refuses(answer, {
      line: later + 2,
      problem: /outbox .*, which is of another conversation/,
    });
    await nothingStored();
  });

  test('records lie beyond the end of their conversation', async () => {
    for (const [kind, name] of [
      ['event', 'seq'],
      ['message', 'claimedSeq'],
      ['step', 'finishedSeq'],
      ['turn', 'firstSeq'],
    ] as const) {
      const file = fileOf(changed(placeOf(kind), { [name]: 10 }));
      const problem = new RegExp(`The ${name} lies beyond the 9 of its conversation`);
      await refuses(file, { line: placeOf(kind) + 2, problem }, kind);
    }
    await nothingStored();
  });

  test('mandate has a hash that is not that of its text', async () => {
    const at = placeOf('task');
    const text = fileOf(changed(at, { mandateText: 'Pay everybody.' }));
    await refuses(text, { line: at + 2, problem: /mandateHash/ });
    const hash = fileOf(changed(at, { mandateHash: sha256('x') }));
    await refuses(hash, { line: at + 2, problem: /mandateHash/ });
    await nothingStored();
  });

  test('records have an end that their state has not', async () => {
    for (const [kind, over] of [
      ['task', { endedAt: null }],
      ['turn', { endedAt: null }],
      ['run', { endedAt: 5 }],
      ['execution', { endedAt: 5 }],
    ] as const) {
      const at = placeOf(kind);
      await refuses(fileOf(changed(at, over)), { line: at + 2, problem: /endedAt/ }, kind);
    }
    await nothingStored();
  });

  test('log of admin actions is not whole, or meets one that is there', async (t) => {
    const at = placeOf('audit');
    const log = { line: at + 2, problem: /log of admin actions is broken/ };
    await refuses(fileOf(changed(at, { principal: 'admin:other' })), log);
    await refuses(fileOf(RECORDS.filter((_, place_) => place_ !== at)), log);
    await nothingStored();
    const other = sqlitePlace(t);
    assert.equal((await bring(fileOf(RECORDS.slice(0, at)), other.filling)).kind, 'imported');
    const held = await dumpOf(other);
    const log2 = fileOf(RECORDS.slice(at));
    const outcome = await bring(log2, other.filling);
    assert.ok(outcome.kind === 'refused');
    assert.equal(outcome.line, 2);
    assert.match(outcome.problem, /import into an empty one/);
    assert.deepEqual(await dumpOf(other), held);
  });
});

test('records that are here already are named by their line, and nothing is stored', async (t) => {
  const other = sqlitePlace(t);
  const few = RECORDS.filter(({ kind }) => kind !== 'audit');
  assert.equal((await bring(fileOf(few), other.filling)).kind, 'imported');
  const held = await dumpOf(other);
  const again = await bring(fileOf(few), other.filling);
  assert.ok(again.kind === 'refused');
  assert.equal(again.line, 2);
  assert.match(again.problem, /conversation is in this installation already/);
  for (const [kind, at] of [
    ['receipt', few.findIndex((one) => one.kind === 'receipt')],
    ['execution', few.findLastIndex((one) => one.kind === 'execution')],
  ] as const) {
    const one = few[at] as Archived;
    const alone = { ...one, record: { ...one.record, subjectId: 'another' } } as Archived;
    const file = fileOf([one.kind === 'receipt' ? alone : one]);
    const outcome = await bring(file, other.filling);
    assert.ok(outcome.kind === 'refused', kind);
    assert.equal(outcome.line, 2);
    assert.match(outcome.problem, new RegExp(`The ${kind} is in this installation already`));
  }
  assert.deepEqual(await dumpOf(other), held);
});
