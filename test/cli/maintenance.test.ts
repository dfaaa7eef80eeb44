import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { conversations } from '../../src/cli/commands/lists.ts';
import { admit, maintenance } from '../../src/cli/commands/maintenance.ts';
import { session } from '../../src/cli/commands/session.ts';
import { status } from '../../src/cli/commands/status.ts';
import { why } from '../../src/cli/commands/tasks.ts';
import type { ReadOptions } from '../../src/cli/program.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { ConversationId, OperationId } from '../../src/kernel/ids.ts';
import type { OperationReply, SessionReply } from '../../src/wire/maintenance.ts';
import { everyRow } from '../support/acts.ts';
import { asks, says, until } from '../support/host.ts';
import { openDoor, type KeyName, type TestDoor } from '../http/door.ts';
import { openPlace } from '../http/history.ts';
import { inShell, type ShellEnd } from '../http/shell.ts';
import {
  doneOperation,
  EXHAUSTED,
  handOver,
  putOperation,
  TOO_LARGE,
  UNCERTAIN,
  waitingUntil,
} from '../http/upkeep.ts';

interface Ground {
  readonly door: TestDoor;
  /** An operation in a conversation of its own. */
  readonly put: (over: Partial<OperationRecord>) => Promise<OperationId>;
  readonly shell: (
    command: (options: ReadOptions) => Promise<void>,
    key?: KeyName,
  ) => Promise<ShellEnd>;
}

async function openGround(context: TestContext): Promise<Ground> {
  const door = await openDoor(context);
  return {
    door,
    put: async (over) => putOperation(door, await openPlace(door), over),
    shell: (command, key = 'ops') => inShell(context, door, key, command),
  };
}

describe('maintenance', () => {
  test('is a table of the operations, and says how a blocked one is opened', async (context) => {
    const { door, put, shell } = await openGround(context);
    const none = await shell((options) => maintenance(undefined, options));
    assert.deepEqual(none, { code: 0, text: 'No maintenance operations.' });
    const waiting = await put(waitingUntil(door.installation.clock.now() + 9_000));
    const quiet = await shell((options) => maintenance(undefined, options));
    assert.doesNotMatch(quiet.text, /sekisho maintenance ID/);
    const blocked = await put({ ...UNCERTAIN, kind: 'handover', step: 'rotate' });
    const { text } = await shell((options) => maintenance(undefined, options));
    const [heads = '', newest = '', oldest = ''] = text.split('\n');
    assert.match(heads, /^ID +STATE +STEP +FAILED +SINCE +CONVERSATION$/);
    assert.match(
      newest,
      new RegExp(`^${blocked} +blocked: uncertain +handover: rotate +1 .*conv_`),
    );
    assert.match(oldest, new RegExp(`^${waiting} +waiting +compact +1 .*conv_`));
    assert.match(text, /\n\nHow one that is blocked stands.*: sekisho maintenance ID$/);
    const open = await shell((options) => maintenance(undefined, { ...options, state: 'done' }));
    assert.equal(open.text, 'No maintenance operations.');
    const of = { conversation: 'conv_0000000000000000' };
    const nowhere = await shell((options) => maintenance(undefined, { ...options, ...of }));
    assert.equal(nowhere.code, 4);
    const way =
      ': no conversation has the id conv_0{16}. They are listed by: sekisho conversations';
    assert.match(nowhere.text, new RegExp(way));
    const sessions = await shell((options) => session(undefined, { ...options, ...of }));
    assert.deepEqual([sessions.code, sessions.text], [4, nowhere.text]);
  });

  test('ID is how one stands, with the commands as a shell types them', async (context) => {
    const { put, shell } = await openGround(context);
    const id = await put(UNCERTAIN);
    const { code, text } = await shell((options) => maintenance(id, options));
    assert.equal(code, 0);
    assert.match(text, new RegExp(`^${id}  blocked \\(uncertain\\)\\n\\S`));
    assert.match(text, /^failures {7}1 in a row, 1 in all$/m);
    assert.match(text, /^last failure {3}rejected: it did not say why$/m);
    assert.match(text, /^version {8}3$/m);
    assert.match(text, new RegExp(`^  sekisho admit ${id} --as handover  \\(\\S`, 'm'));
    assert.match(text, /^ {2}\/new \(in the chat\) {2}\(\S/m);
    const large = await put(TOO_LARGE);
    const sizes = await shell((options) => maintenance(large, options));
    assert.match(
      sizes.text,
      /^window {9}8000 tokens; kept free 800, instructions 5000, tools 2000, summary and/m,
    );
    const document = await shell((options) => maintenance(id, { ...options, json: true }));
    assert.equal((JSON.parse(document.text) as OperationReply).reason, 'uncertain');
    const unknown = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    const missing = await shell((options) => maintenance(unknown, options));
    assert.equal(missing.code, 4);
    assert.match(
      missing.text,
      /^not_found: no maintenance operation has the id mop_.* did you mean mop_/,
    );
  });

  test('is in why, status and conversations too', async (context) => {
    const { put, shell } = await openGround(context);
    const id = await put(EXHAUSTED);
    const told = await shell((options) => why(id, options));
    assert.equal(told.code, 0);
    assert.match(told.text, new RegExp(`\\n\\n  sekisho admit ${id}  \\(`));
    const now = await shell(status);
    assert.match(now.text, /^context 1 blocked: sekisho maintenance --state open$/m);
    assert.match(now.text, new RegExp(`sekisho admit ${id}`));
    const list = await shell((options) => conversations(options));
    assert.match(list.text, new RegExp(` blocked ${id} `));
  });
});

describe('M-7 admit', () => {
  test('opens the operation as it stands, and says at which version', async (context) => {
    const { door, put, shell } = await openGround(context);
    const id = await put(EXHAUSTED);
    const { code, text } = await shell((options) => admit(id, options));
    assert.equal(code, 0);
    assert.match(
      text,
      new RegExp(`^Admitted ${id} as of version 15: it goes on with compact, and may fail`),
    );
    assert.match(text, new RegExp(`sekisho maintenance ${id}$`));
    assert.equal((await door.client().operation(id)).epoch, 3);
  });

  test('goes on as a handover where it is told so', async (context) => {
    const { put, shell } = await openGround(context);
    const id = await put(UNCERTAIN);
    const bare = await shell((options) => admit(id, options));
    assert.equal(bare.code, 3);
    assert.match(bare.text, new RegExp(`^handover_only: .*\`sekisho admit ${id} --as handover\``));
    const handed = await shell((options) => admit(id, { ...options, as: 'handover' }));
    assert.match(handed.text, /goes on with a handover to a new session, and may fail/);
  });

  test('ends with its code when it is refused, and changes nothing', async (context) => {
    const { door, put, shell } = await openGround(context);
    const id = await put(EXHAUSTED);
    const waiting = await put(waitingUntil(door.installation.clock.now() + 9_000));
    const before = await everyRow(door.installation);
    const cases: readonly [string, object, KeyName, number, RegExp][] = [
      [id, { version: '14' }, 'ops', 3, /^version_conflict: /],
      [id, { as: 'handover' }, 'ops', 3, /^no_handover: /],
      [id, {}, 'reader', 3, /^forbidden: /],
      [id, {}, 'runner', 3, /^forbidden: /],
      [waiting, {}, 'ops', 3, /^not_blocked: /],
      ['mop_0000000000000000', {}, 'ops', 4, /^not_found: /],
      ['mop_', {}, 'ops', 4, /^not_found: .* listed by: sekisho maintenance$/],
      ['mop_0000000000000000', { version: '3' }, 'ops', 4, /^not_found: /],
      [id, { version: 'x' }, 'ops', 2, /--version takes/],
      [id, { as: 'compact' }, 'ops', 2, /--as takes handover/],
    ];
    for (const [subject, more, key, code, said] of cases) {
      const ended = await shell((options) => admit(subject, { ...options, ...more }), key);
      assert.deepEqual([ended.code, said.test(ended.text)], [code, true], ended.text);
    }
    assert.deepEqual(await everyRow(door.installation), before);
  });

  test('given again with its receipt says what it came to, and does nothing more', async (context) => {
    const { door, put, shell } = await openGround(context);
    const id = await put(EXHAUSTED);
    const first = await shell((options) => admit(id, { ...options, receipt: 'r1', json: true }));
    assert.equal((JSON.parse(first.text) as OperationReply).epoch, 3);
    await doneOperation(door, id);
    const before = await everyRow(door.installation);
    const again = await shell((options) => admit(id, { ...options, receipt: 'r1' }));
    assert.equal(again.code, 3);
    assert.match(again.text, /^receipt_used: This receipt has opened mop_\w+ before, so nothing/);
    assert.deepEqual(await everyRow(door.installation), before);
  });
});

async function answered(door: TestDoor, id: ConversationId, text: string): Promise<void> {
  const { messageId } = await door.client('runner').postMessage(id, { text });
  await until(door.engine, id, async () => {
    return (await door.client().message(messageId)).state === 'done';
  });
}

describe('M-16 session', () => {
  const seed = JSON.stringify({
    summary: 'They talked\nabout March.',
    conditions: [{ at: 1_800_000_000_000, text: 'Ask before you delete.' }],
  });

  test('lists sessions, and shows one with its links, its summary and its transcript', async (context) => {
    const { door, shell } = await openGround(context);
    const here = await openPlace(door);
    const { sessionId: first } = await door.client().conversation(here);
    const answers = [asks(['look', { at: 1 }]), says('seen it')];
    door.installation.model.answer = () => answers.shift() ?? says('ok');
    await answered(door, here, 'look at March');
    const second = await handOver(door, here, { seed });
    const other = await openPlace(door);
    const all = await shell((options) => session(undefined, options));
    const [heads = '', newest = '', ...rest] = all.text.split('\n');
    assert.match(heads, /^ID +STATE +SINCE +COMPACTED +FROM +GOES ON IN +CONVERSATION$/);
    assert.match(newest, new RegExp(`^sess_\\w+ +current .* ${other}$`));
    assert.match(rest[0] ?? '', new RegExp(`^${second} +current .* 0 +${first} .*${here}$`));
    assert.match(rest[1] ?? '', new RegExp(`^${first} +archived .* 0 +${second} +${here}$`));
    const of = await shell((how) => session(undefined, { ...how, conversation: here, limit: '1' }));
    assert.match(of.text, new RegExp(`^ID.*\\n${second} .*$`));
    const one = await shell((options) => session(second, options));
    assert.match(one.text, new RegExp(`^${second}  current\\n`));
    assert.match(
      one.text,
      new RegExp(`^goes on from   ${first} \\(sekisho session ${first}\\)$`, 'm'),
    );
    assert.match(one.text, /^to hold {8}.*: Ask before you delete\.$/m);
    assert.match(one.text, /^summary:\n {4}They talked\n {4}about March\.$/m);
    assert.doesNotMatch(one.text, /transcript/);
    const old = await shell((options) => session(first, { ...options, transcript: true }));
    assert.match(old.text, new RegExp(`^goes on in     ${second} `, 'm'));
    const [, said = ''] = old.text.split('transcript:\n');
    assert.match(
      said,
      /^ {2}\S+ \S+ user\n {4}look at March\n.* assistant\n {4}look \{"at":1\}\n.* tool look\n {4}done\n.* assistant\n {4}seen it$/,
    );
  });

  test('prints one document with --json, its transcript in it where it is asked for', async (context) => {
    const { door, shell } = await openGround(context);
    const here = await openPlace(door);
    await answered(door, here, 'hello');
    const { sessionId } = await door.client().conversation(here);
    const json = { json: true };
    const bare = await shell((options) => session(sessionId, { ...options, ...json }));
    assert.deepEqual(JSON.parse(bare.text), await door.client().session(sessionId));
    const whole = await shell((how) => session(sessionId, { ...how, ...json, transcript: true }));
    const { transcript, ...rest } = JSON.parse(whole.text) as SessionReply & {
      transcript: readonly { readonly content: string }[];
    };
    assert.equal(rest.id, sessionId);
    assert.deepEqual(
      transcript.map(({ content }) => content),
      ['hello', 'ok'],
    );
    const missing = await shell((options) => session('sess_0000000000000000', options));
    assert.equal(missing.code, 4);
    assert.match(missing.text, /^not_found: no session has the id/);
  });
});
