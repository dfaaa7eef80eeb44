// What is said of a maintenance operation, of its fence and of sessions, from records in a real store.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import { explainOperation } from '../../src/engine/maintenance/why.ts';
import { explainTask } from '../../src/engine/task/why.ts';
import { REFUSALS } from '../../src/kernel/fault.ts';
import type { EventType } from '../../src/kernel/event.ts';
import { renderRefusal } from '../../src/text/render.ts';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import { conversationRow, eventRow, idOf, messageRow } from '../../src/testing/store-rows.ts';
import { ADMIN, ANNA, ask, BERLIN, HERE, ID, NOW, openParts, put, task } from './records.ts';

const OPERATION = idOf('operation', 1);
const SESSION = idOf('session', 1);
const NEXT = idOf('session', 2);
const DE = { ...BERLIN, locale: 'de' } as const;
const EIO = JSON.stringify({ code: 'eio', said: 'EIO: i/o error' });

let parts: EngineParts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(() => parts.store.close());

/** An operation that began at 13:57 and last changed at 14:01. */
async function given(over: Partial<OperationRecord>): Promise<void> {
  const row = operationRow({
    createdAt: NOW - 300_000,
    changedAt: NOW - 65_000,
    nextAttemptAt: null,
    ...over,
  });
  const fence = row.state === 'blocked' ? 'blocked' : 'shut';
  const isOpen = row.state !== 'done' && row.state !== 'dropped';
  await put(
    parts,
    { write: 'operation.insert', row },
    ...(isOpen
      ? [{ write: 'conversation.fence', id: HERE, fence, operationId: OPERATION } as const]
      : []),
  );
}

/** Events from 13:57:05, one a second, numbered from 2. */
async function happened(
  ...list: readonly (readonly [EventType, Partial<EventRecord>])[]
): Promise<void> {
  const rows = list.map(([type, over], index) =>
    eventRow({ seq: index + 2, type, at: NOW - 300_000 + index * 1_000, by: 'host:1', ...over }),
  );
  const held = { expectedSeq: 0, seq: list.length + 1, token: 0, turnId: null };
  await put(
    parts,
    { write: 'conversation.advance', id: HERE, ...held },
    ...rows.map((row) => ({ write: 'event.insert', row }) as const),
  );
}

const answer = (text: string, principal = ADMIN): Promise<string> => ask(parts, text, principal);

async function sentenceOf(audience: typeof BERLIN | typeof DE = BERLIN): Promise<string> {
  const told = await explainOperation(parts, OPERATION, audience);
  assert.ok(told !== undefined);
  return told.sentence;
}

const BLOCKED = {
  state: 'blocked',
  reason: 'exhausted',
  version: 15,
  failures: 7,
  lifetimeFailures: 12,
  attempts: 13,
  fault: EIO,
} as const;

describe('W-6: why of an operation says', () => {
  test('that it waits: since when, its step, its failures, the last one, its next try, what is kept', async () => {
    await given({
      state: 'waiting',
      failures: 3,
      lifetimeFailures: 3,
      attempts: 3,
      fault: EIO,
      nextAttemptAt: NOW + 4_000,
    });
    await put(parts, { write: 'message.insert', row: messageRow({ seq: 1 }) });
    assert.equal(
      await sentenceOf(),
      `Making room in the conversation ${HERE} (${OPERATION}) began at 13:57 and has been waiting for its ` +
        `next try since 14:01. It is about the session ${SESSION}: its older part summarised, the newest ` +
        'kept word for word. Its step: shortening the session. Failures in a row: 3 of 7; in its ' +
        'lifetime: 3; tries in its lifetime: 3. What the last one said: disk: input/output error. It is ' +
        'tried again by itself at 14:02:09. Nothing of the conversation is lost; no turn begins in it ' +
        'meanwhile, and messages are kept and will be answered in order (kept so far: 1).',
    );
    assert.equal(
      await sentenceOf(DE),
      `In der Unterhaltung ${HERE} wird Platz geschaffen (${OPERATION}); das begann um 13:57 und wartet ` +
        `seit 14:01 auf den nächsten Versuch. Es geht um die Sitzung ${SESSION}: der ältere Teil ` +
        'zusammengefasst, der neueste Wort für Wort erhalten. Der Schritt: das Kürzen der Sitzung. ' +
        'Fehlschläge hintereinander: 3 von 7; insgesamt: 3; Versuche insgesamt: 3. Was der letzte sagte: ' +
        'Platte: Ein-/Ausgabefehler. Es wird von selbst wieder versucht, um 14:02:09. Von der Unterhaltung ' +
        'ist nichts verloren; solange beginnt in ihr kein Durchgang, und Nachrichten bleiben und werden ' +
        'der Reihe nach beantwortet (bisher aufgehoben: 1).',
    );
    assert.match(
      await answer(`/why ${OPERATION}`),
      /\n\nNo command is needed: it goes on by itself\.$/,
    );
  });

  test('that it is being tried, and that a quota is waited for', async () => {
    await given({ kind: 'handover', step: 'summarise', attempts: 1, attemptAt: NOW - 5_000 });
    assert.match(
      await sentenceOf(),
      new RegExp(
        `^Making room .* and is running\\. It is about the session ${SESSION}: summarised, and followed by a next one\\. ` +
          'Its step: summarising the session\\. That is being tried since 14:02:00\\. Failures ',
      ),
    );
    const row = operationRow({
      version: 2,
      state: 'waiting',
      quotaWaits: 2,
      nextAttemptAt: NOW + 86_400_000,
    });
    await put(parts, { write: 'operation.save', row });
    assert.match(
      await sentenceOf(),
      /It waits for the quota of the model provider, which is no failure\. It is tried again by itself on Sat,? 15 Nov, 14:02:05\./,
    );
  });

  test('why it is blocked, each of its commands and who may give it', async () => {
    await given(BLOCKED);
    const said = await answer(`/why ${OPERATION}`);
    assert.match(said, /has been blocked since 14:01\. /);
    assert.match(said, /Why it is blocked: making room in it failed seven times in a row\. /);
    assert.match(
      said,
      /Failures in a row: 7 of 7; in its lifetime: 12; tries in its lifetime: 13\./,
    );
    assert.ok(
      said.endsWith(
        '\n\nWhat changes it:\n' +
          `/admit ${OPERATION} (an admin): lets the conversation go on, with up to seven further failures.\n` +
          '/new (an admin): gives it up and begins a fresh session, in which kept messages are answered.',
      ),
      said,
    );
  });

  test('what does not fit, by part', async () => {
    const sizes = {
      window: 8_192,
      reserve: 820,
      instructions: 5_200,
      tools: 1_900,
      seed: 400,
      message: 2_400,
    };
    await given({ state: 'blocked', reason: 'base_too_large', fault: JSON.stringify(sizes) });
    assert.match(
      await sentenceOf(),
      /Tokens: the model can see 8,192, of which 820 are kept free for the answer; the instructions take 5,200, the tools 1,900, the summary and what is restated beside it 400, the newest words 2,400\. /,
    );
  });

  test('that it is over, and what it used', async () => {
    await given({
      state: 'done',
      endedAt: NOW - 5_000,
      inputTokens: 900,
      outputTokens: 100,
      cost: 20_000,
    });
    const said = await answer(`/why ${OPERATION}`);
    assert.match(said, / began at 13:57 and was done at 14:02\. /);
    assert.match(
      said,
      / It used 1,000 tokens \(US\$0\.02\)\.\n\nNo command changes it any more\.$/,
    );
    assert.doesNotMatch(said, /messages are kept|Its step/);
  });

  test('what led there, the newest first, without what others did', async () => {
    await given(BLOCKED);
    const of = (data: object, over: Partial<EventRecord> = {}): Partial<EventRecord> => ({
      data: JSON.stringify({ operationId: OPERATION, step: 'compact', ...data }),
      ...over,
    });
    await happened(
      ['operation.started', of({ cause: 'usage' }, { toState: 'running' })],
      ['conversation.fence', of({}, { toState: 'shut' })],
      ['operation.reserved', of({ attempt: 1 })],
      ['message.accepted', { by: 'member:anna' }],
      ['operation.moved', of({ code: 'eio', failures: 1 }, { toState: 'waiting' })],
      ['notice.prepared', { data: '{"outboxId":"out_1","code":"maintenance_waiting"}' }],
      ['operation.moved', of({ operationId: idOf('operation', 2) }, { toState: 'done' })],
      ['operation.moved', of({ code: 'http_429', quotaWaits: 1 }, { toState: 'waiting' })],
      ['operation.moved', of({}, { toState: 'blocked', reason: 'exhausted' })],
    );
    const told = await explainOperation(parts, OPERATION, BERLIN);
    assert.deepEqual(told?.chain, [
      '13:57:13: It was blocked: making room in it failed seven times in a row.',
      '13:57:12: It waits for the quota of the model provider, which is no failure.',
      '13:57:10: A notice was prepared and leaves unless it is over soon (`maintenance_waiting`).',
      '13:57:09: A step of it failed (disk: input/output error); failures in a row: 1 of 7.',
      '13:57:07: Try 1 began: shortening the session.',
      '13:57:06: No turn begins in the conversation until there is room.',
      '13:57:05: Making room in the conversation began. What the model can see at once was nearly full.',
    ]);
    const german = await explainOperation(parts, OPERATION, DE);
    assert.equal(
      german?.chain[3],
      '13:57:09: Ein Schritt ist gescheitert (Platte: Ein-/Ausgabefehler); Fehlschläge hintereinander: 1 von 7.',
    );
  });

  test('nothing to whoever may not see it, and the nearest to whoever mistyped it', async () => {
    await given(BLOCKED);
    const slip = `${OPERATION.slice(0, -1)}9`;
    assert.equal(
      await answer(`/why ${slip}`),
      `Nothing here has the id \`${slip}\`. The nearest is \`${OPERATION}\`.`,
    );
    const elsewhere = idOf('conversation', 2);
    const other = idOf('operation', 7);
    await put(
      parts,
      { write: 'conversation.insert', row: conversationRow({ id: elsewhere, address: 'two' }) },
      {
        write: 'operation.insert',
        row: operationRow({ id: other, conversationId: elsewhere, sessionId: NEXT }),
      },
    );
    assert.match(await answer(`/why ${other}`, ANNA), /^Nothing here has the id/);
    assert.match(await answer(`/why ${other}`), /^Making room in the conversation conv_/);
  });
});

describe('a conversation behind a fence is told:', () => {
  test('W-6 by why of its task, with the commands of the operation', async () => {
    await given(BLOCKED);
    await put(parts, task());
    const told = await explainTask(parts, ID, BERLIN);
    assert.match(
      told?.sentence ?? '',
      new RegExp(
        `in line since .* Its conversation is paused, and no turn of it begins before an admin lets that go on: \`/why ${OPERATION}\`\\. `,
      ),
    );
    const ways = waysOfOperation(operationRow(BLOCKED)).map(({ command }) => command);
    assert.deepEqual(told?.commands.map(({ command }) => command).slice(-2), ways);
  });

  test('while it is being maintained, without a command', async () => {
    await given({ state: 'running' });
    await put(parts, task());
    const told = await explainTask(parts, ID, BERLIN);
    assert.match(told?.sentence ?? '', /Room is being made in its conversation, and no turn /);
    assert.ok(told?.commands.every(({ command }) => !command.startsWith('/admit')));
  });

  test('not of a task that has ended, nor once it is over', async () => {
    await given({ state: 'done', endedAt: NOW });
    await put(parts, {
      write: 'conversation.fence',
      id: HERE,
      fence: 'passed',
      operationId: OPERATION,
    });
    await put(parts, task());
    assert.doesNotMatch((await explainTask(parts, ID, BERLIN))?.sentence ?? '', /conversation/);
    assert.doesNotMatch(await answer('/status'), /room|paused/);
  });

  test('by /status, of this conversation and of the installation, and to an admin with the command', async () => {
    await given(BLOCKED);
    const said = await answer('/status');
    assert.match(
      said,
      new RegExp(
        `\nThis conversation is paused: making room in it failed seven times in a row\\. Messages are kept\\. What changes it: \`/why ${OPERATION}\`\\.\n` +
          'Conversations in which room is being made: 0; that wait for a next try: 0; that are paused until an admin lets them go on: 1\\.\n',
      ),
    );
    assert.match(
      said,
      new RegExp(
        `\nFor you to decide:\n- The conversation ${HERE} is paused: making room in it failed seven times in a row\\. \`/admit ${OPERATION}\`\n`,
      ),
    );
    assert.doesNotMatch(await answer('/status', ANNA), /For you to decide/);
  });
});

test('a refusal about an operation says how it stands and names the command, in both languages', () => {
  const said = (code: keyof typeof REFUSALS, detail: Readonly<Record<string, string>>): string[] =>
    [BERLIN, DE].map((reader) => renderRefusal(reader, code, { id: OPERATION, ...detail }, NOW));
  assert.deepEqual(said('not_blocked', { state: 'waiting' }), [
    `\`${OPERATION}\` is not blocked (it waits and is tried again by itself), so nothing was done. How it stands: \`/why ${OPERATION}\`.`,
    `\`${OPERATION}\` ist nicht blockiert (es wartet und wird von selbst wieder versucht), darum ist nichts geschehen. Wie es steht: \`/why ${OPERATION}\`.`,
  ]);
  for (const text of said('handover_only', {}))
    assert.ok(text.endsWith(`\`/admit ${OPERATION} handover\`.`), text);
  for (const text of said('no_handover', {}))
    assert.ok(text.endsWith(`\`/admit ${OPERATION}\`.`), text);
  assert.match(said('fenced', {})[0] ?? '', /Only an admin may give that up/);
  for (const text of said('version_conflict', {}))
    assert.ok(text.endsWith(`\`/why ${OPERATION}\`.`), text);
});
