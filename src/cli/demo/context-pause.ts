import { setTimeout as pause } from 'node:timers/promises';
import type { DemoQuestion } from '../../compose/demo-model.ts';
import { SECOND } from '../../kernel/time.ts';
import type { OperationReply } from '../../wire/maintenance.ts';
import type { OutboxReply } from '../../wire/status.ts';
import { chat } from './chat.ts';
import { KEPT } from './context-model.ts';
import {
  begin,
  currentSession,
  openOperation,
  outboxOf,
  readLetter,
  settled,
  type ContextScene,
} from './context-scene.ts';
import type { Teller } from './teller.ts';

const FAILURES = 7;
/** Somebody who may talk with the host and is no admin. */
export const MEMBER = { name: 'anna', scopes: ['run', 'read'] } as const;
const RECEIPT = 'demo-receipt';
const LAST_ANSWER = KEPT[2].answer;
/** Longer than the pause from one look of the host for what is due to the next, as it is configured here. */
const CALM_MS = 1.5 * SECOND;

/** Making room keeps failing, until the conversation is paused; gives the operation that stands before it. */
export async function pauseConversation(
  scene: ContextScene,
  teller: Teller,
): Promise<OperationReply> {
  const runId = await fail(scene, teller);
  const blocked = await block(scene, teller, runId);
  await restart(scene, teller, blocked);
  return blocked;
}

/** Only an admin lets it go on, who knows what stands there; then everything goes on in its order. */
export async function goOn(
  scene: ContextScene,
  teller: Teller,
  blocked: OperationReply,
): Promise<void> {
  await refuse(scene, teller, blocked);
  await admit(scene, teller, blocked);
  await showSessions(scene, teller, blocked);
}

/** The summary fails; what is said meanwhile is kept, and the host still answers commands. */
async function fail(scene: ContextScene, teller: Teller): Promise<string> {
  const { stage, script, asked, conversationId } = scene;
  script.areSummariesMade = false;
  await teller.says('But now the model fails each call for a summary: it answers 500.');
  const before = summaries(asked);
  while ((await openOperation(scene)) === undefined) await readLetter(scene);
  const operation = await stage.until('a step failed', async () => {
    const found = await openOperation(scene);
    return found !== undefined && found.failures > 0 ? found : undefined;
  });
  stage.expect(operation.step === 'summarise', 'it is a handover', operation);
  await teller.says(
    'Nothing begins in the conversation meanwhile. What is said is kept, here as a run of the API:',
  );
  const [first] = KEPT;
  await teller.writes(first.said);
  const id = await begin(scene, first.said);
  await teller.says('Commands are answered all the same.');
  await teller.writes('/status');
  await teller.shows(await chat(stage, conversationId, '/status'));
  for (let number = 1; number <= FAILURES; number += 1) {
    await stage.until(`try ${number} is made`, () =>
      Promise.resolve(summaries(asked) - before >= number || undefined),
    );
    await teller.shows(`try ${number} of ${FAILURES}: the provider answers 500`);
  }
  return id;
}

/** One notice after some seconds of waiting, one when it is over with; the run ends with the second. */
async function block(scene: ContextScene, teller: Teller, runId: string): Promise<OperationReply> {
  const { stage, conversationId } = scene;
  const blocked = await stage.until('the operation is blocked', async () => {
    const found = await openOperation(scene);
    return found?.state === 'blocked' ? found : undefined;
  });
  stage.expect(blocked.failures === FAILURES, `it failed ${FAILURES} times`, blocked);
  const waiting = await noticesOf(scene, 'maintenance_waiting');
  stage.expect(waiting.length === 1, 'there is one notice that it waits', waiting);
  await teller.says('After five seconds one notice had said that it waits:');
  await teller.shows(waiting[0]?.text ?? '');
  await teller.says(
    'Now that all tries are used, one says that the conversation is paused, and what changes that:',
  );
  const [notice, ...others] = await noticesOf(scene, 'maintenance_exhausted');
  stage.expect(notice !== undefined && others.length === 0, 'there is one notice', others);
  await teller.shows(notice?.text ?? '');
  const { status, outcome } = await settled(stage, runId);
  stage.expect(status === 'failed', 'the run has failed', status);
  await teller.says(
    'The run of the API has ended, so that nobody waits for it. Its words are kept.',
  );
  await teller.shows(`${runId} ${status}: ${outcome?.code ?? ''}`);
  await teller.says('More is said, and kept too.');
  for (const { said: text } of KEPT.slice(1)) {
    await teller.writes(text);
    await stage.client.postMessage(conversationId, { text });
  }
  return blocked;
}

/** Nothing gives it further tries: not a new message, not a restart. */
async function restart(
  { stage, asked }: ContextScene,
  teller: Teller,
  { id, version }: OperationReply,
): Promise<void> {
  const before = asked.length;
  await teller.says('The host is killed and started again. That gives no further try.');
  await teller.types(`kill -9 ${stage.pid}`);
  await stage.kill();
  await teller.types('sekisho start');
  await teller.shows(await stage.start());
  await pause(CALM_MS);
  const now = await stage.client.operation(id);
  stage.expect(now.failures === FAILURES && now.state === 'blocked', 'it stands as it stood', now);
  stage.expect(asked.length === before, 'no model was asked', asked.length - before);
  stage.expect(now.version === version, 'nothing of it has changed', now);
  await teller.types(`sekisho maintenance ${id}`);
  await teller.shows(await stage.run('maintenance', id));
}

/** Who may not, and who speaks of something older, changes nothing. */
async function refuse(
  { stage }: ContextScene,
  teller: Teller,
  { id, version }: OperationReply,
): Promise<void> {
  await teller.says(`${MEMBER.name}, who is no admin, tries to let it go on:`);
  await teller.types(`sekisho admit ${id}`);
  await teller.shows(await stage.refused(['admit', id], MEMBER.name));
  await teller.says('And an admin who has an older state of it in mind:');
  const stale = ['admit', id, '--version', String(version - 1)];
  await teller.types(`sekisho ${stale.join(' ')}`);
  await teller.shows(await stage.refused(stale));
}

/** The cause is mended, an admin lets it go on, and what was kept is answered in its order. */
async function admit(
  scene: ContextScene,
  teller: Teller,
  { id, changedAt }: OperationReply,
): Promise<void> {
  const { stage, script } = scene;
  script.areSummariesMade = true;
  await teller.says('The cause is mended, and an admin lets it go on.');
  const order = ['admit', id, '--receipt', RECEIPT];
  await teller.types(`sekisho ${order.join(' ')}`);
  await teller.shows(await stage.run(...order));
  const replies = await stage.until('everything that was kept is answered', async () => {
    const found = await outboxOf(scene, ({ kind, at }) => kind === 'reply' && at > changedAt);
    const texts = found.map(({ text }) => text);
    return texts.at(-1)?.endsWith(LAST_ANSWER) === true ? texts : undefined;
  });
  const over = await noticesOf(scene, 'maintenance_over');
  stage.expect(over.length === 1, 'somebody is told, once', over);
  await teller.shows(over[0]?.text ?? '');
  await teller.says(
    'What was kept is answered in the order in which it was said; what was said in a row shares an answer:',
  );
  await teller.shows(replies.join('\n'));
  const answers = KEPT.map(({ answer }) => answer).join(' ');
  stage.expect(replies.join(' ') === answers, 'each is answered once, in order', replies);
  await teller.says('The same order once more, with the same receipt, does nothing more:');
  await teller.types(`sekisho ${order.join(' ')}`);
  await teller.shows(await stage.refused(order));
}

/** The archived session and the one that goes on from it name each other. */
async function showSessions(
  scene: ContextScene,
  teller: Teller,
  { sessionId }: OperationReply,
): Promise<void> {
  const { stage } = scene;
  const now = await currentSession(scene);
  const archived = await stage.client.session(sessionId);
  stage.expect(now.previousId === sessionId, 'it goes on from the archived one', now);
  stage.expect(archived.nextId === now.id, 'the archived one goes on in it', archived);
  await teller.says(
    'The conversation goes on in a new session; the archived one stays, and both name each other.',
  );
  for (const id of [archived.id, now.id]) {
    await teller.types(`sekisho session ${id}`);
    await teller.shows(await stage.run('session', id));
  }
}

async function noticesOf(scene: ContextScene, wanted: string): Promise<readonly OutboxReply[]> {
  return outboxOf(scene, ({ code, state }) => code === wanted && state === 'delivered');
}

function summaries(asked: readonly DemoQuestion[]): number {
  return asked.filter(({ asks }) => asks === 'summary').length;
}
