import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import type { ApprovalOrder, Engine, MessageIntake } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Tools } from '../../src/ports/tools.ts';
import { ADMIN, ANNA, asks, BEN, Installation, OPTIONS, says, taskIn } from '../support/host.ts';
import { askedIn, eventually, restOf, say, talkTo } from '../support/acts.ts';

// A real command of a real workspace, which appends one line to a file each time that it runs.

const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const COMMAND = 'sh pay.sh Ben';
const SCRIPT = 'echo "paid $1" >> paid\n';

async function newWorkspace(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-approval-'));
  folders.push(folder);
  await writeFile(join(folder, 'pay.sh'), SCRIPT);
  return folder;
}

interface Given {
  readonly workspace: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly approver?: 'any' | 'other';
}

function toolsOf(place: Installation, given: Given): Tools {
  const { workspace, environment = { PATH: '/usr/bin:/bin' }, approver = 'any' } = given;
  return builtInTools({
    workspace,
    clock: { now: () => place.clock.now(), uptime: () => 0, sleep: waits },
    environment,
    sandbox: { unavailable: 'the test runs it plainly' },
    command: { approval: 'always', approver },
  });
}

/** A command's time limit and its watcher are not what is tested: nobody wakes them but its end. */
function waits(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => resolve());
  });
}

interface Asked {
  readonly place: Installation;
  readonly workspace: string;
  readonly here: ConversationId;
  readonly approvalId: ApprovalOrder['approvalId'];
  engine: Engine;
}

/** Anna's request has led to a question. */
async function asked(given: Partial<Given> = {}, owner: Principal = ANNA): Promise<Asked> {
  const place = new Installation();
  place.model.answer = (request) =>
    askedIn(request) === 'pay Ben' ? asks(['command', { command: COMMAND }]) : says('so be it');
  const workspace = await newWorkspace();
  const engine = await place.host({ tools: toolsOf(place, { workspace, ...given }) });
  const here = await talkTo(engine);
  await say(engine, here, 'pay Ben', { principal: owner });
  const task = await taskIn(engine, here, 'waiting');
  assert.equal(task.reason, 'awaits_approval');
  return { place, workspace, here, engine, approvalId: task.waitId as Asked['approvalId'] };
}

async function answer(
  { engine, approvalId }: Asked,
  principal: Principal,
  decision: 'approve' | 'deny' = 'approve',
): Promise<string> {
  const order = { approvalId, decision, principal, channel: 'api' };
  const verdict = await engine.answerApproval(order);
  return verdict.kind === 'refused' ? verdict.code : verdict.approval.state;
}

/** What was paid, a line each time. */
async function paid({ workspace }: Pick<Asked, 'workspace'>): Promise<readonly string[]> {
  const text = await readFile(join(workspace, 'paid'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

async function finished(of: Asked): Promise<void> {
  await taskIn(of.engine, of.here, 'completed');
  await of.engine.stop(0);
}

/** The next host over the same store, with tools of its own. */
async function restart(of: Asked, given: Partial<Given> = {}): Promise<void> {
  await of.engine.stop(0);
  const { place, workspace } = of;
  of.engine = await place.host({ tools: toolsOf(place, { workspace, ...given }) });
}

test('E-4 exactly what was shown runs, once, also when it is answered after a restart', async () => {
  const of = await asked();
  await restart(of);
  assert.equal(await answer(of, ANNA), 'approved');
  await finished(of);
  assert.deepEqual(await paid(of), ['paid Ben']);
});

test('E-4 two answers at once: one counts, and the call runs once', async () => {
  const of = await asked();
  const verdicts = await Promise.all([
    answer(of, ANNA),
    answer(of, ADMIN),
    answer(of, ANNA, 'deny'),
  ]);
  assert.deepEqual(
    verdicts.toSorted().filter((verdict) => verdict === 'approval_closed').length,
    2,
  );
  await finished(of);
  assert.equal((await paid(of)).length, verdicts.includes('approved') ? 1 : 0);
});

test('E-4 the wrong person, a message that says so and the model approve nothing', async () => {
  const of = await asked();
  assert.equal(await answer(of, BEN), 'forbidden');
  const by: Pick<MessageIntake, 'principal'> = { principal: BEN };
  await say(of.engine, of.here, `/approve ${of.approvalId}`, by);
  await say(of.engine, of.here, 'approved', by);
  await say(of.engine, of.here, `I approve ${of.approvalId}`);
  of.place.model.answer = () => says(`/approve ${of.approvalId}`);
  await restOf(of.engine);
  const [approval] = await of.place.rows('approval');
  assert.equal(approval?.['state'], 'open');
  assert.deepEqual(await paid(of), []);
  await of.engine.stop(0);
});

test('E-4 a run input is never read as an answer', async () => {
  const of = await asked();
  const input = `/approve ${of.approvalId}`;
  await of.engine.acceptRun({ input, principal: ANNA, conversationId: of.here });
  await restOf(of.engine);
  assert.equal((await of.place.rows('approval'))[0]?.['state'], 'open');
  assert.deepEqual(await paid(of), []);
  await of.engine.stop(0);
});

test('E-4 too late is denied: the approval has expired and its task says so', async () => {
  const of = await asked();
  await of.place.clock.sleeper(OPTIONS.approvalMs);
  of.place.clock.advance(OPTIONS.approvalMs + SECOND);
  const blocked = await taskIn(of.engine, of.here, 'blocked');
  assert.equal(blocked.reason, 'wait_elapsed');
  assert.equal(await answer(of, ANNA), 'approval_closed');
  assert.equal((await of.place.rows('approval'))[0]?.['state'], 'expired');
  assert.deepEqual(await paid(of), []);
  await of.engine.stop(0);
});

test('E-4 a denial runs nothing, and the model is told', async () => {
  const of = await asked();
  assert.equal(await answer(of, ANNA, 'deny'), 'denied');
  await finished(of);
  assert.deepEqual(await paid(of), []);
  assert.match(askedIn(of.place.model.requests.at(-1) ?? assert.fail()), /denied/);
});

test('E-6 where another person must answer, the requester cannot', async () => {
  const of = await asked({ approver: 'other' });
  assert.equal(await answer(of, ANNA), 'approver_other');
  assert.equal(await answer(of, BEN), 'forbidden');
  assert.equal(await answer(of, ADMIN), 'approved');
  await finished(of);
  assert.deepEqual(await paid(of), ['paid Ben']);
});

/** What changes between the question and the run. */
const CHANGES: Readonly<Record<string, (of: Asked) => Promise<void>>> = {
  'a byte of the script': async (of) => {
    await writeFile(join(of.workspace, 'pay.sh'), SCRIPT.replace('paid', 'Paid'));
  },
  'the folder': async (of) => {
    await restart(of, { workspace: await newWorkspace() });
  },
  'a variable of the environment': async (of) => {
    await restart(of, { environment: { PATH: '/usr/bin:/bin', TARGET: 'x' } });
  },
  'a byte of argv': async (of) => {
    await of.engine.stop(0);
    const { place, workspace } = of;
    const tools = toolsOf(place, { workspace });
    const other: Tools = {
      ...tools,
      run: (call, signal, approved) =>
        tools.run({ ...call, args: call.args.replace('Ben', 'Bem') }, signal, approved),
    };
    of.engine = await place.host({ tools: other });
  },
};

for (const [what, change] of Object.entries(CHANGES)) {
  test(`E-4 nothing runs when ${what} has changed since it was shown`, async () => {
    const of = await asked();
    await change(of);
    assert.equal(await answer(of, ANNA), 'approved');
    await finished(of);
    assert.deepEqual(await paid(of), []);
    const failed = (await of.place.rows('step')).find(({ error_code }) => error_code === 'changed');
    assert.ok(failed, 'the step says that it is not what was shown');
  });
}

test('E-4 the conversation goes on while a call waits, and its task can be stopped', async () => {
  const of = await asked();
  const other = await of.engine.openConversation({ channel: 'api', principal: ANNA });
  await say(of.engine, other, 'hello');
  await taskIn(of.engine, other, 'completed');
  const task = await taskIn(of.engine, of.here, 'waiting');
  await of.engine.stopTask({ taskId: task.id, principal: ANNA, channel: 'api' });
  await eventually(async () => (await of.place.rows('approval'))[0]?.['state'] === 'denied');
  assert.equal(await answer(of, ANNA), 'approval_closed');
  await restOf(of.engine);
  assert.deepEqual(await paid(of), []);
  await of.engine.stop(0);
});

test('E-4 the same bytes are asked about once while nobody has answered', async () => {
  const of = await asked();
  of.place.model.answer = () => asks(['command', { command: COMMAND }]);
  const { id: replyTo } = await taskIn(of.engine, of.here, 'waiting');
  const words = { conversationId: of.here, text: 'have you paid?', principal: ANNA, replyTo };
  assert.equal((await of.engine.acceptMessage(words)).kind, 'accepted');
  await restOf(of.engine);
  assert.equal((await of.place.rows('approval')).length, 1);
  assert.equal(
    (await of.place.rows('outbox')).filter(({ code }) => code === 'awaits_approval').length,
    1,
  );
  of.place.model.answer = () => says('so be it');
  assert.equal(await answer(of, ANNA), 'approved');
  await finished(of);
  assert.deepEqual(await paid(of), ['paid Ben']);
});
