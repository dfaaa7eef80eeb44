// A conversation in which much happens: calls, an approval, a wait, a summary, a host that dies.
import assert from 'node:assert/strict';
import type { Engine } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import { ADMIN, ANNA, asks, judges, says, sumsUp, until } from '../support/host.ts';
import { elapse } from '../engine/recovery-support.ts';
import { saysFull } from '../engine/maintenance-support.ts';
import { mortal } from '../engine/upkeep-support.ts';
import type { RecordedInstallation } from './recorded.ts';

/** So many tasks of a conversation are in this state. */
async function tasksIn(
  engine: Engine,
  conversationId: ConversationId,
  { state, count }: { readonly state: string; readonly count: number },
): Promise<void> {
  const args = { state, enrollment: '', conversationId, before: '~', limit: 20 } as const;
  await until(engine, conversationId, async () => {
    return (await engine.store.query('task.list', args)).length === count;
  });
}

/** Plays the story and gives its conversation. */
export async function tell(home: RecordedInstallation): Promise<ConversationId> {
  home.tools.asked.add('note');
  home.assessor.answer = () => judges('continue', 'nothing speaks against it');
  home.summariser.answer = () => sumsUp('Anna had a bill paid and a note written.');
  const script = [
    asks(['look', { at: 'bills' }], ['pay', { sum: 3 }]),
    says('It is paid.'),
    asks(['note', { text: 'paid' }]),
    says('The note is written.'),
    asks(['task_wait', { for: 'instant', seconds: 90 }]),
    says('I looked again.'),
    saysFull('That was much.'),
    asks(['pay', { sum: 4 }]),
  ];
  home.model.answer = () => script.shift() ?? new Promise(() => {});
  const { engine: host, kill } = await mortal(home);
  const id = await host.openConversation({ channel: 'api', principal: ANNA });
  const say = (text: string): Promise<unknown> =>
    host.acceptMessage({ conversationId: id, text, principal: ANNA });
  await say('Pay the bill.');
  await tasksIn(host, id, { state: 'completed', count: 1 });
  home.clock.advance(MINUTE);
  await say('Write a note.');
  await tasksIn(host, id, { state: 'waiting', count: 1 });
  home.clock.advance(MINUTE);
  const [approval] = await host.store.query('approval.list', {
    state: 'open',
    conversationId: id,
    before: '~',
    limit: 1,
  });
  assert.ok(approval);
  const order = { approvalId: approval.id, decision: 'approve', channel: 'api' } as const;
  await host.answerApproval({ ...order, principal: ADMIN });
  await tasksIn(host, id, { state: 'completed', count: 2 });
  await say('Look again in a while.');
  await tasksIn(host, id, { state: 'waiting', count: 1 });
  await elapse(home, 100 * SECOND);
  await tasksIn(host, id, { state: 'completed', count: 3 });
  await say('Tell me everything.');
  await tasksIn(host, id, { state: 'completed', count: 4 });
  await elapse(home, 5 * SECOND);
  await say('Pay the other one.');
  await until(host, id, async () => script.length === 0 && home.tools.ran.length >= 4);
  await elapse(home, SECOND);
  kill();
  home.clock.advance(MINUTE);
  const after = [says('Both are paid.')];
  home.model.answer = () => after.shift() ?? new Promise(() => {});
  const next = await home.host();
  await tasksIn(next, id, { state: 'completed', count: 5 });
  await next.stop(0);
  return id;
}
