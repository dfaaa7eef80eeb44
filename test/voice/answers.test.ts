// The answers to commands, told from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openLimiter } from '../../src/core/budget/limiter.ts';
import { readCommand, USAGES, type Command } from '../../src/core/inbox/command.ts';
import type { EngineParts, Health } from '../../src/engine/engine.ts';
import { answerCommand, type AskCommand } from '../../src/engine/inbox/answers.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { conversationRow, idOf } from '../../src/testing/store-rows.ts';
import {
  ADMIN,
  ANNA,
  approval,
  APPROVAL,
  HEALTH,
  HERE,
  ID,
  LEFT,
  MODEL,
  NOW,
  openParts,
  put,
  task,
  turn,
} from './records.ts';

/** Commands that change records are answered by their own units. */
const ORDERS: ReadonlySet<Command['kind']> = new Set<Exclude<Command['kind'], AskCommand['kind']>>([
  'stop',
  'pause',
  'resume',
  'extend',
  'approve',
  'deny',
  'admit',
  'fresh',
  'model',
  'clock_confirm',
  'safe_mode_off',
]);

function isAsk(command: Command): command is AskCommand {
  return !ORDERS.has(command.kind);
}

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

async function answer(text: string, principal: Principal = ADMIN): Promise<string> {
  const command = readCommand(text);
  assert.ok(command !== undefined && isAsk(command));
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
      task({
        id: four,
        state: 'blocked',
        reason: 'held_legacy',
        enrollment: 'held-legacy',
        outcomeData: '{"was":{"state":"waiting","reason":"awaits_answer","waitKind":"answer"}}',
      }),
      ...turn(),
    );
    const invoices = '“Summarise the March invoices”';
    assert.deepEqual((await answer('/tasks')).split('\n'), [
      `■ ${invoices}: blocked since 14:01. ${three}`,
      `… ${invoices}: waiting for the check after an interruption since 14:01. ${two}`,
      `▸ ${invoices}: no step has begun yet. ${ID}`,
      'Held: 1. List: `/tasks held`.',
    ]);
    assert.deepEqual((await answer('/tasks held')).split('\n'), [
      `■ ${invoices}: held; before that it was waiting for your answer. ${four}`,
      'None of them runs by itself. To wake exactly one, an admin types `/task-resume ID` in its own ' +
        'conversation or at the terminal.',
    ]);
  });

  test('/tasks, /tasks held and /why say when there is nothing', async () => {
    assert.equal(await answer('/tasks'), 'No task of this conversation is open.');
    assert.equal(await answer('/tasks held'), 'No task is held.');
    assert.equal(await answer('/tasks held', ANNA), 'No task of this conversation is held.');
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
      `/pause ${two} (the one who asked for it, or an admin): sets it aside until it is resumed.`,
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
      'For you to decide:',
      '- “Summarise the March invoices”: The model kept working without getting on, even after a ' +
        `reminder. \`/task-resume ${idOf('task', 2)}\``,
      `Here runs “Summarise the March invoices”: no step has begun yet. ${ID}`,
    ]);
  });

  test('/status says what stands in the way: an account that is limited, a clock that jumped', async () => {
    const limiter = openLimiter(MODEL.account, NOW);
    const health: Health = {
      ...HEALTH,
      clock: { isTrusted: false, driftMs: 7_200_000, until: NOW + 600_000 },
      limiters: [
        { ...limiter, state: 'limited', until: NOW + 60_000 },
        { ...limiter, account: 'ours', state: 'down', code: 'http_503', until: NOW + 5_000 },
        { ...limiter, account: 'gone', state: 'down' },
      ],
    };
    const order = { command: { kind: 'status' }, conversationId: HERE, principal: ADMIN } as const;
    const lines = (await answerCommand(parts, { ...order, health })).split('\n');
    assert.deepEqual(lines.slice(3, 6), [
      'The model provider of openai-compatible/llama3.2 lets only few calls through; looked at again at 14:03.',
      'The model provider of anthropic/sonnet, openai/new does not answer calls; looked at again at 14:02.',
      'The clock is not trusted: it stands 2 hours ahead of what the host counted. Until 14:12 ' +
        'nothing expires and nothing begins by itself. If it is right as it stands: `/clock confirm`.',
    ]);
  });

  test('/status says nothing of an account whose instant has passed, and who was not found', async () => {
    const limiter = openLimiter(MODEL.account, NOW);
    const limiters = [
      { ...limiter, state: 'limited', until: NOW - 1 },
      { ...limiter, account: 'ours', state: 'down', code: 'connect' },
    ] as const;
    const order = { command: { kind: 'status' }, conversationId: HERE, principal: ANNA } as const;
    const said = await answerCommand(parts, { ...order, health: { ...HEALTH, limiters } });
    assert.deepEqual(said.match(/^The model provider .*$/gm), [
      'The model provider of anthropic/sonnet, openai/new cannot be reached.',
    ]);
  });

  test('/status names what its reader is to decide, each with its ways out', async () => {
    await put(
      parts,
      task({ state: 'waiting', reason: 'interrupted', waitKind: 'assessment' }),
      approval({ kind: 'uncertain' }),
      task({ id: idOf('task', 2), mandateText: 'Pay', state: 'paused', reason: 'paused' }),
      task({
        id: idOf('task', 3),
        mandateText: 'Ask',
        state: 'waiting',
        reason: 'awaits_answer',
        waitKind: 'answer',
      }),
    );
    const lines = (await answer('/status')).split('\n');
    const at = lines.indexOf('For you to decide:');
    assert.deepEqual(lines.slice(at + 1, -1), [
      '- “Summarise the March invoices”: Whether a call of it took effect is unknown. Check, then: ' +
        `\`/deny ${APPROVAL}\` keeps it from running once more, \`/approve ${APPROVAL}\` lets it.`,
      `- “Ask”: It asked a question. \`/why ${idOf('task', 3)}\``,
      `- “Pay”: A person set it aside. \`/task-resume ${idOf('task', 2)}\``,
    ]);
  });

  test('/status says that safe mode is on, what is being checked and what is held', async () => {
    const storm = {
      id: idOf('storm', 1),
      since: NOW - 300_000,
      lastAt: NOW - 60_000,
      endedAt: null,
      endedBy: null,
    };
    await put(
      parts,
      task({ state: 'waiting', reason: 'interrupted', waitKind: 'assessment' }),
      task({
        id: idOf('task', 2),
        state: 'blocked',
        reason: 'held_legacy',
        enrollment: 'held-legacy',
      }),
    );
    const health: Health = { ...HEALTH, safeMode: storm, assessing: [ID] };
    const order = { command: { kind: 'status' }, conversationId: HERE, principal: ADMIN } as const;
    const lines = (await answerCommand(parts, { ...order, health })).split('\n');
    assert.deepEqual(lines.slice(3, -1), [
      'Safe mode is on since 13:57: nothing begins by itself until 15:01, or longer if the host ' +
        'ends without warning again before. An admin ends it with `/safe-mode off`.',
      'Open tasks: 1 blocked, 1 waiting.',
      'Interrupted tasks that a check decides about: 1; being checked now: 1; safe mode keeps the ' +
        'checks from beginning until 15:01.',
      'Older tasks that are held: 1. Here: `/tasks held`.',
    ]);
  });

  test('/model says what is used, what it costs and what else there is', async () => {
    assert.deepEqual((await answer('/model')).split('\n'), [
      'The model of this conversation is openai-compatible/llama3.2 (free of charge).',
      'Models to choose from with `/model NAME`:',
      '- openai-compatible/llama3.2 (free of charge)',
      '- anthropic/sonnet (US$3.00 per million tokens in, US$15.00 out)',
      '- openai/new (its price is not known, so its cost is not counted)',
    ]);
  });

  test('/usage says when nothing was used, and to others what is theirs', async () => {
    assert.match(await answer('/usage'), /^Fri,? 14 Nov: nothing was used\.\n/);
    assert.equal(await answer('/usage', ANNA), 'This conversation has no task yet.');
    await put(parts, task());
    assert.equal(
      await answer('/usage', ANNA),
      'Your tasks of this conversation, the newest first:\n' +
        `- “Summarise the March invoices”: 0 tokens, US$0.00. ${ID}`,
    );
  });

  test('/help shows every form of every command, and what is no command', async () => {
    const help = await answer('/help');
    for (const { usage } of USAGES) assert.ok(help.includes(`\n${usage}: `), usage);
    assert.match(
      help,
      /^Commands:\n[\s\S]*\nAnything else that you write is a message to the agent\.$/,
    );
  });

  test('a command with words that it does not take says how it is typed', async () => {
    assert.equal(
      await answer('/tasks of last week'),
      'This is typed as `/tasks`, `/tasks held [N]`. All commands: `/help`.',
    );
    assert.equal(
      await answer('/stauts'),
      'There is no command `/stauts`. The nearest is `/status`. All of them: `/help`.',
    );
  });
});
