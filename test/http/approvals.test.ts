import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { ApiProblem, type Client } from '../../src/client/client.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { ApprovalReply } from '../../src/wire/approval.ts';
import { asks, says, taskIn, until } from '../support/host.ts';
import { openDoor, type KeyName, type TestDoor } from './door.ts';
import { openLine, types } from './line.ts';

interface Asked {
  readonly door: TestDoor;
  /** Of a call of the tool `pay` that the key `runner` had asked for. */
  readonly approval: ApprovalReply;
  readonly runId: string;
  readonly conversationId: ConversationId;
}

async function openAsked(
  context: TestContext,
  approver: 'any' | 'other' = 'any',
  key: KeyName = 'runner',
): Promise<Asked> {
  const door = await openDoor(context);
  const { model, tools } = door.installation;
  tools.asked.add('pay');
  tools.approver = approver;
  model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? says('It is paid.') : asks(['pay', { to: 'x' }]);
  const { id: runId, conversationId } = await door.client(key).createRun({ input: 'pay the bill' });
  const conversation = conversationId as ConversationId;
  const approval = await until(door.engine, conversation, async () => {
    const { items } = await door.client(key).approvals({ state: 'open' });
    return items[0];
  });
  return { door, approval, runId, conversationId: conversation };
}

function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ApiProblem && error.code === code;
}

async function ids(client: Client, query: Parameters<Client['approvals']>[0]): Promise<string[]> {
  return (await client.approvals(query)).items.map(({ id }) => id);
}

describe('E-4: an approval over HTTP', () => {
  test('shows everything that would run, and who may answer until when', async (context) => {
    const { door, approval, runId, conversationId } = await openAsked(context);
    const now = door.installation.clock.now();
    assert.deepEqual(
      { ...approval, id: '', taskId: '' },
      {
        id: '',
        taskId: '',
        conversationId,
        runId,
        kind: 'call',
        tool: 'pay',
        shown: { argv: ['pay', '{"to":"x"}'], folder: '/workspace', env: {}, files: [] },
        state: 'open',
        approver: 'any',
        mayAnswer: true,
        requestedBy: 'key:runner',
        decidedBy: null,
        at: new Date(now).toISOString(),
        expiresAt: new Date(now + 86_400_000).toISOString(),
        decidedAt: null,
      },
    );
    const task = await door.client('runner').task(approval.taskId);
    assert.deepEqual(task.waitsFor, {
      kind: 'approval',
      id: approval.id,
      until: approval.expiresAt,
    });
    const run = await door.client('runner').run(runId);
    assert.deepEqual([run.status, run.waitsFor], ['waiting', task.waitsFor]);
    assert.deepEqual(await door.client('runner').approval(approval.id), approval);
  });

  test('runs the call once when it is approved, and keeps who did', async (context) => {
    const { door, approval, runId, conversationId } = await openAsked(context);
    assert.equal(door.installation.tools.ran.length, 0);
    const answer = { decision: 'approve' } as const;
    const answered = await door.client('runner').answerApproval(approval.id, answer);
    assert.deepEqual(
      [answered.state, answered.decidedBy, answered.mayAnswer, answered.runs],
      ['approved', 'key:runner', false, 'now'],
    );
    await taskIn(door.engine, conversationId, 'completed');
    assert.deepEqual(
      door.installation.tools.ran.map(({ name }) => name),
      ['pay'],
    );
    assert.equal((await door.client().run(runId)).output, 'It is paid.');
    await assert.rejects(
      door.client('runner').answerApproval(approval.id, { decision: 'deny' }),
      refusedWith('approval_closed'),
    );
  });

  test('is not told as a call that was made until it was', async (context) => {
    const { door, approval, conversationId } = await openAsked(context);
    const client = door.client('runner');
    const { taskId } = approval;
    const chain = async (): Promise<string> => (await client.why(taskId)).chain.join('\n');
    assert.deepEqual((await client.task(taskId)).evidence, []);
    assert.match(await chain(), /`pay` was asked for and had to wait for approval/);
    assert.doesNotMatch(await chain(), /`pay` was called/);
    await client.answerApproval(approval.id, { decision: 'approve' });
    await taskIn(door.engine, conversationId, 'completed');
    const { evidence } = await client.task(taskId);
    assert.deepEqual(
      evidence.map(({ kind, tool }) => [kind, tool]),
      [['effect', 'pay']],
    );
    assert.match(await chain(), /`pay` was called and gave its result/);
  });

  test('is kept while its task stands still, and why says so', async (context) => {
    const { door, approval, conversationId } = await openAsked(context);
    const client = door.client('runner');
    const { id, taskId } = approval;
    await client.pauseTask(taskId);
    assert.doesNotMatch((await client.why(taskId)).sentence, /was approved/);
    const { runs } = await client.answerApproval(id, { decision: 'approve' });
    assert.equal(runs, 'later');
    const { sentence } = await client.why(taskId);
    assert.ok(sentence.includes(`That \`pay\` may run was approved (${id}); it is kept`), sentence);
    assert.equal(door.installation.tools.ran.length, 0);
    await client.resumeTask(taskId);
    await taskIn(door.engine, conversationId, 'completed');
    assert.equal(door.installation.tools.ran.length, 1);
  });

  test('runs nothing when it is denied', async (context) => {
    const { door, approval, conversationId } = await openAsked(context);
    const { runs } = await door.client().answerApproval(approval.id, { decision: 'deny' });
    assert.equal(runs, null);
    await taskIn(door.engine, conversationId, 'completed');
    assert.equal(door.installation.tools.ran.length, 0);
    assert.deepEqual(await ids(door.client(), { state: 'denied' }), [approval.id]);
    assert.deepEqual(await ids(door.client(), { state: 'open' }), []);
  });

  test('is told on the stream of its run, which stays open', async (context) => {
    const { door, approval, runId } = await openAsked(context);
    const line = await openLine(door, `/v1/runs/${runId}/events`, { key: 'runner' });
    const before = await line.upTo('notice');
    assert.deepEqual(types(before).slice(-2), ['approval.asked', 'notice']);
    const notice = before.at(-1)?.data;
    assert.ok(notice?.type === 'notice');
    assert.deepEqual(
      [notice.level, notice.code, notice.command],
      ['waiting', 'awaits_approval', `/approve ${approval.id}`],
    );
    assert.match(notice.sentence, /pay/);
    const [waiting] = (await door.client().attention()).items;
    assert.deepEqual([notice.subjectId, waiting?.subjectId], [approval.id, approval.id]);
    const finished = before.find(({ data }) => data?.type === 'tool.finished')?.data;
    assert.ok(finished?.type === 'tool.finished');
    assert.deepEqual([finished.error?.code, finished.result], ['asked', undefined]);
    await door.client('runner').answerApproval(approval.id, { decision: 'approve' });
    const after = types(await line.rest());
    assert.equal(after[0], 'approval.decided');
    assert.equal(after.at(-1), 'run.completed');
    assert.ok(after.includes('tool.finished'));
  });

  test('X-1: is seen and answered by its own key or an admin alone', async (context) => {
    const { door, approval } = await openAsked(context);
    const before = await door.counts();
    assert.deepEqual(await ids(door.client('other'), {}), []);
    assert.deepEqual(await ids(door.client('reader'), {}), [approval.id]);
    assert.equal((await door.client('reader').approval(approval.id)).mayAnswer, false);
    assert.equal((await door.client('ops').approval(approval.id)).mayAnswer, true);
    await assert.rejects(door.client('other').approval(approval.id), refusedWith('not_found'));
    const answer = { decision: 'approve' } as const;
    for (const [key, code] of [
      ['other', 'not_found'],
      ['reader', 'forbidden'],
    ] as const) {
      const answered = door.client(key).answerApproval(approval.id, answer);
      await assert.rejects(answered, refusedWith(code));
    }
    assert.deepEqual(await door.counts(), before);
  });

  test('is answered once for a receipt, which then gives the first outcome', async (context) => {
    const { door, approval } = await openAsked(context);
    const answer = { decision: 'approve', receiptId: 'rcpt_1' } as const;
    const first = await door.client('runner').answerApproval(approval.id, answer);
    const again = await door
      .client('runner')
      .answerApproval(approval.id, answer)
      .catch((no: unknown) => no);
    assert.ok(again instanceof ApiProblem);
    assert.deepEqual([again.code, again.outcome], ['receipt_used', first]);
    const once = { idempotencyKey: 'k' };
    const closed = door.client().answerApproval(approval.id, { decision: 'deny' }, once);
    await assert.rejects(closed, refusedWith('approval_closed'));
  });
});

test('E-6: an approval for another person refuses the one who asked', async (context) => {
  const { door, approval } = await openAsked(context, 'other', 'ops');
  assert.deepEqual([approval.approver, approval.mayAnswer], ['other', false]);
  await assert.rejects(
    door.client('ops').answerApproval(approval.id, { decision: 'approve' }),
    refusedWith('approver_other'),
  );
  assert.equal((await door.client('ops').approval(approval.id)).state, 'open');
});

test('a list of approvals is paged, and of a state and a conversation where it is asked for', async (context) => {
  const { door, approval, conversationId } = await openAsked(context);
  const { conversationId: other } = await door.client('ops').createRun({ input: 'pay again' });
  const second = await until(door.engine, other as ConversationId, async () => {
    const { items } = await door.client().approvals({ conversation: other });
    return items[0];
  });
  const client = door.client();
  assert.deepEqual(await ids(client, {}), [second.id, approval.id]);
  assert.deepEqual(await ids(client, { conversation: conversationId }), [approval.id]);
  const { nextCursor } = await client.approvals({ limit: 1 });
  assert.deepEqual(await ids(client, { limit: 1, cursor: nextCursor ?? '' }), [approval.id]);
  await assert.rejects(client.approvals({ cursor: 'task_1' }), refusedWith('bad_request'));
});
