// The answers to commands, told from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { readCommand } from '../../src/core/inbox/command.ts';
import type { EngineParts, Health } from '../../src/engine/engine.ts';
import { answerCommand } from '../../src/engine/inbox/answers.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { conversationRow, idOf } from '../../src/testing/store-rows.ts';
import { HERE, ID, LEFT, NOW, openParts, put, task, turn } from './records.ts';

const ANNA: Principal = { kind: 'member', id: 'anna', isAdmin: false };
const ADMIN: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };
const HEALTH: Health = {
  state: 'ready',
  reason: null,
  hostId: idOf('host', 1),
  startedAt: NOW - 3_600_000,
  runningTurns: 0,
  answeredBy: null,
};

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

async function answer(text: string, principal: Principal = ADMIN): Promise<string> {
  const command = readCommand(text);
  assert.ok(command !== undefined && command.kind !== 'stop');
  return answerCommand(parts, { command, conversationId: HERE, principal, health: HEALTH });
}

describe('W-3: from the store alone', () => {
  test('/tasks lists what is open, newest first, and counts what does not fit', async () => {
    const many = Array.from({ length: 14 }, (_, index) =>
      task({ id: idOf('task', index + 1), mandateText: `Task ${index + 1}` }),
    );
    await put(parts, ...many, task({ id: idOf('task', 99), state: 'stopped', endedAt: NOW }));
    const lines = (await answer('/tasks')).split('\n');
    assert.equal(lines.length, 13);
    assert.equal(lines[0], `▸ “Task 14”: in line since 14:01. ${idOf('task', 14)}`);
    assert.equal(lines.at(-1), 'and 2 more');
  });

  test('/tasks says how each stands, and which ones are held', async () => {
    const [two, three, four] = [idOf('task', 2), idOf('task', 3), idOf('task', 4)];
    await put(
      parts,
      task(),
      task({ id: two, state: 'waiting', reason: 'interrupted', waitKind: 'assessment' }),
      task({ id: three, state: 'blocked', reason: 'no_outcome' }),
      task({ id: four, state: 'blocked', enrollment: 'held-legacy' }),
      ...turn(),
    );
    const invoices = '“Summarise the March invoices”';
    assert.deepEqual((await answer('/tasks')).split('\n'), [
      `■ ${invoices}: blocked since 14:01. ${three}`,
      `… ${invoices}: waiting for the check that decides whether interrupted work may go on since 14:01. ${two}`,
      `▸ ${invoices}: running since 14:01. ${ID}`,
      'Held: 1. List: `/tasks held`.',
    ]);
    assert.equal(await answer('/tasks held'), `■ ${invoices}: blocked since 14:01. ${four}`);
  });

  test('/tasks, /tasks held and /why say when there is nothing', async () => {
    assert.equal(await answer('/tasks'), 'No task of this conversation is open.');
    assert.equal(await answer('/tasks held'), 'No task of this conversation is held.');
    assert.equal(await answer('/why'), 'This conversation has no task yet.');
  });

  test('/why means the newest open task, else the newest', async () => {
    const two = idOf('task', 2);
    await put(parts, task({ state: 'completed', reason: 'answered', endedAt: NOW - 5_000 }));
    assert.match(await answer('/why'), /^“Summarise .*\n\nNo command changes it any more\.$/);
    await put(
      parts,
      task({ id: two, mandateText: 'Pay' }),
      task({ id: idOf('task', 3), state: 'failed', endedAt: NOW }),
    );
    assert.deepEqual((await answer('/why')).split('\n'), [
      `“Pay” (${two}) has been in line since 14:01. ${LEFT}`,
      '',
      'What changes it:',
      `/stop ${two} (the one who asked for it, or an admin): ends it; what was done is kept.`,
    ]);
  });

  test('W-5: an id that nothing has is answered with the nearest', async () => {
    await put(parts, task());
    const typo = `${ID.slice(0, -1)}${ID.endsWith('Z') ? 'Y' : 'Z'}`;
    const expected = `Nothing here has the id \`${typo}\`. The nearest is \`${ID}\`.`;
    assert.equal(await answer(`/why ${typo}`), expected);
    assert.equal(
      await answer('/why nonsense'),
      `Nothing here has the id \`task_N0NSENSE\`. The nearest is \`${ID}\`.`,
    );
  });

  test('a task of another conversation is shown to its own principal and to an admin only', async () => {
    const there = idOf('conversation', 2);
    await put(
      parts,
      { write: 'conversation.insert', row: conversationRow({ id: there, address: 'elsewhere' }) },
      task({ conversationId: there }),
    );
    const ben: Principal = { kind: 'member', id: 'ben', isAdmin: false };
    assert.match(await answer(`/why ${ID}`, ADMIN), /March invoices/);
    assert.match(await answer(`/why ${ID}`, ANNA), /March invoices/);
    assert.equal(await answer(`/why ${ID}`, ben), `Nothing here has the id \`${ID}\`.`);
  });

  test('T-9: /status tells the configured model from the one that answered', async () => {
    assert.deepEqual((await answer('/status')).split('\n'), [
      'The host is ready; it started at 13:02.',
      'Model as configured: openai-compatible/llama3.2.',
      'No model has answered since the host started.',
      'No task is open.',
      'Nothing is running in this conversation.',
    ]);
    await put(
      parts,
      task(),
      task({ id: idOf('task', 2), state: 'blocked', reason: 'no_progress' }),
      ...turn(),
    );
    const answeredBy = { provider: 'x', model: 'y', at: NOW };
    const health: Health = { ...HEALTH, state: 'failed', reason: 'disk I/O error', answeredBy };
    const command = { kind: 'status' } as const;
    const order = { command, conversationId: HERE, principal: ANNA, health };
    assert.deepEqual((await answerCommand(parts, order)).split('\n'), [
      'The host has failed; it started at 13:02.',
      'What the store said: disk I/O error',
      'Model as configured: openai-compatible/llama3.2.',
      'Model that answered last: x/y, at 14:02.',
      'Open tasks: 1 blocked, 1 active.',
      `Running here: “Summarise the March invoices”. ${ID}`,
    ]);
  });

  test('/help shows every form of every command, and what is no command', async () => {
    const help = await answer('/help');
    for (const line of ['/stop: ', '/stop all: ', '/stop ID: ', '/tasks held: ', '/why [ID]: ']) {
      assert.ok(help.includes(`\n${line}`), line);
    }
    assert.match(
      help,
      /^Commands:\n[\s\S]*\nAnything else that you write is a message to the agent\.$/,
    );
  });

  test('a command with words that it does not take says how it is typed', async () => {
    assert.equal(
      await answer('/tasks of last week'),
      'This is typed as `/tasks`, `/tasks held`. All commands: `/help`.',
    );
    assert.equal(
      await answer('/stauts'),
      'There is no command `/stauts`. The nearest is `/status`. All of them: `/help`.',
    );
  });
});
