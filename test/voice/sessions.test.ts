// What is said of the sessions of a conversation, from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { writeSeed } from '../../src/core/maintenance/summary.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import {
  conversationRow,
  idOf,
  messageRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';
import { ADMIN, ANNA, ask, HERE, ID, NOW, openParts, put, TURN } from './records.ts';

const SESSION = idOf('session', 1);
const NEXT = idOf('session', 2);

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

const answer = (text: string, principal = ADMIN): Promise<string> => ask(parts, text, principal);

describe('M-16: /session', () => {
  beforeEach(async () => {
    const condition = { at: NOW, text: 'ask before deleting' };
    const seed = writeSeed({
      summary: 'We sorted the invoices.\nTwo are missing.',
      conditions: [condition],
      sinceSeq: 0,
      reported: null,
    });
    const old = sessionRow({ startedAt: NOW - 7_200_000 });
    const row = sessionRow({ id: NEXT, startedAt: NOW - 65_000, firstSeq: 10, previousId: old.id });
    const turn = turnRow({
      id: TURN,
      sessionId: NEXT,
      state: 'ended',
      end: 'answered',
      firstSeq: 12,
      endedAt: NOW,
    });
    const said = messageRow({ seq: 11, text: 'And April?', principal: 'member:anna' });
    const output = JSON.stringify({ text: 'April is complete.', calls: [] });
    const of = { turnId: TURN, taskId: ID, claimedSeq: 12 };
    const asked = { seq: 13, ordinal: 1, kind: 'model', turnId: TURN } as const;
    const ended = { finishedId: idOf('event', 14), finishedSeq: 14, finishedAt: NOW };
    const spoken = { state: 'finished', output, ...ended } as const;
    await put(
      parts,
      { write: 'session.end', id: old.id, endedAt: NOW - 65_000 },
      { write: 'session.link', id: old.id, nextId: NEXT },
      { write: 'session.insert', row },
      { write: 'session.seed', id: NEXT, seed, cutSeq: 9, compactions: 2 },
      { write: 'conversation.session', id: HERE, sessionId: NEXT },
      { write: 'task.insert', row: taskRow({ sessionId: NEXT }) },
      { write: 'turn.insert', row: turn },
      { write: 'message.insert', row: said },
      { write: 'message.claim', id: said.id, ...of },
      { write: 'step.insert', row: stepRow(asked) },
      { write: 'step.finish', row: stepRow({ ...asked, ...spoken }) },
      { write: 'conversation.advance', id: HERE, expectedSeq: 0, seq: 20, token: 1, turnId: null },
    );
  });

  test('lists them, the newest first, each with those before and after it', async () => {
    const lines = (await answer('/session', ANNA)).split('\n');
    assert.equal(lines[0], `${NEXT}: began at 14:01, in use. It goes on from ${SESSION}.`);
    assert.match(
      lines[1] ?? '',
      new RegExp(`^${SESSION}: began .*, ended at 14:01\\. It goes on in ${NEXT}\\.$`),
    );
    assert.equal(lines[2], 'What one of them holds: `/session ID`.');
  });

  test('says of one its summary, what is to hold and what was said last', async () => {
    assert.deepEqual((await answer(`/session ${NEXT}`, ANNA)).split('\n'), [
      `${NEXT}: began at 14:01, in use. It goes on from ${SESSION}.`,
      'How often it was shortened: 2. What was said stays in the store, word for word.',
      'The summary that stands for what is older: “We sorted the invoices. Two are missing.”',
      'What is to hold from then on, as it was said:',
      '- “ask before deleting”',
      'What was said last:',
      '- member:anna: “And April?”',
      '- the agent: “April is complete.”',
    ]);
    assert.match(await answer(`/session ${SESSION}`), /\nNothing was said in it\.$/);
  });

  test('W-5 names the nearest of an id that no session has, and shows no other conversation’s', async () => {
    const slip = `${NEXT.slice(0, -1)}9`;
    assert.equal(
      await answer(`/session ${slip}`),
      `Nothing here has the id \`${slip}\`. The nearest is \`${NEXT}\`.`,
    );
    const elsewhere = idOf('conversation', 2);
    const other = idOf('session', 7);
    await put(
      parts,
      {
        write: 'conversation.insert',
        row: conversationRow({ id: elsewhere, address: 'two', sessionId: other }),
      },
      { write: 'session.insert', row: sessionRow({ id: other, conversationId: elsewhere }) },
    );
    assert.match(await answer(`/session ${other}`, ANNA), /^Nothing here has the id/);
    assert.match(await answer(`/session ${other}`), new RegExp(`^${other}: began`));
  });
});
