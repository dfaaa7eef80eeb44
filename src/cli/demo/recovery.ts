import { startDemoModel, type DemoAnswer, type DemoQuestion } from '../../compose/demo-model.ts';
import type { OutboxReply } from '../../wire/status.ts';
import { chat, said } from './chat.ts';
import { Stage } from './stage.ts';
import { Teller } from './teller.ts';

const REQUEST = 'Send the newsletter to the club';
const LEDGER = 'ledger.txt';
const SEND = `echo "the newsletter was sent" >> ${LEDGER}`;
const NOTICE = 'recovery_assessment_failed';
const ATTEMPTS = 3;

/** How the scripted model behaves; the demo moves it on. */
interface Script {
  phase: 'work' | 'failing' | 'well';
}

/**
 * Shows what becomes of a task whose host is killed in the middle of it: nothing goes on unchecked, three
 * failed checks block it with one notice, and one command reopens it. Throws `DemoFailed`.
 */
export async function demoRecovery(): Promise<void> {
  const stage = new Stage();
  const script: Script = { phase: 'work' };
  const model = await startDemoModel((question) => answer(script, question));
  try {
    await play({ stage, script, asked: model.asked, url: model.url });
  } finally {
    await stage.clear();
    await model.close();
  }
}

interface Scene {
  readonly stage: Stage;
  readonly script: Script;
  readonly asked: readonly DemoQuestion[];
  readonly url: string;
}

function answer({ phase }: Script, { asks, hasResult }: DemoQuestion): DemoAnswer {
  if (asks === 'assessment') {
    const reason = 'The newsletter is out already; only the answer is missing.';
    return phase === 'well'
      ? { say: JSON.stringify({ verdict: 'continue', reason }) }
      : { status: 500 };
  }
  if (!hasResult) return { call: 'command', args: { command: SEND } };
  return phase === 'work' ? 'stall' : { say: 'The newsletter went to the club, once.' };
}

async function play(scene: Scene): Promise<void> {
  const teller = new Teller();
  const { stage, script, url } = scene;
  stage.configure(url);
  const task = await begin(scene, teller);
  await teller.says('The host is killed in the middle of the work. It cannot prepare for that.');
  await teller.types(`kill -9 ${stage.pid}`);
  await stage.kill();
  script.phase = 'failing';
  await teller.says('It is started again.');
  await restart(scene, teller);
  await block(scene, teller, task);
  await reopen(scene, teller, task);
}

interface Work {
  readonly taskId: string;
  readonly conversationId: string;
}

/** A task works: its tool has run, and the model is asked what comes next. */
async function begin({ stage, asked }: Scene, teller: Teller): Promise<Work> {
  await teller.says(
    'A host is started, in a folder of its own. Its model is a script of this demo.',
  );
  await teller.types('sekisho start');
  await teller.shows(await stage.start());
  const { client } = stage;
  const { id: conversationId } = await client.openConversation({ channel: 'terminal' });
  await teller.says('Somebody asks for work.');
  await teller.writes(REQUEST);
  const { messageId } = await client.postMessage(conversationId, { text: REQUEST });
  await stage.until('the model is asked what comes after the tool', () =>
    Promise.resolve(asked.find(({ asks, hasResult }) => asks === 'turn' && hasResult)),
  );
  const { taskId } = await client.message(messageId);
  stage.expect(taskId !== null, 'the message has a task', taskId);
  await teller.says('The tool has run, and has written into its own ledger:');
  await teller.types(`cat workspace/${LEDGER}`);
  await teller.shows(stage.read(LEDGER).trim());
  return { taskId: taskId ?? '', conversationId };
}

async function restart({ stage }: Scene, teller: Teller): Promise<void> {
  await teller.types('sekisho start');
  await teller.shows(await stage.start());
}

/** Three checks fail, and then a person is told, once. */
async function block({ stage, asked }: Scene, teller: Teller, work: Work): Promise<void> {
  const before = asked.length;
  await teller.says(
    'Nothing goes on by itself: a check of its own decides first. The model provider fails it now.',
  );
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    await stage.until(`check ${attempt} is made`, () =>
      Promise.resolve(checks(asked)[attempt - 1]),
    );
    await teller.shows(`check ${attempt} of ${ATTEMPTS}: the provider answers 500`);
  }
  const { client } = stage;
  const task = await stage.until('the task is blocked', async () => {
    const now = await client.task(work.taskId);
    return now.state === 'blocked' ? now : undefined;
  });
  stage.expect(task.reason === NOTICE, 'the task says why it is blocked', task.reason);
  const notices = await noticesOf(stage, work);
  stage.expect(notices.length === 1, 'there is exactly one notice', notices);
  const turns = asked.slice(before).filter(({ asks }) => asks === 'turn');
  stage.expect(turns.length === 0, 'no turn began', turns.length);
  await teller.says('All three are used. The task is blocked, and one notice says so:');
  await teller.shows(notices[0]?.text ?? '');
}

function checks(asked: readonly DemoQuestion[]): readonly DemoQuestion[] {
  return asked.filter(({ asks }) => asks === 'assessment');
}

async function noticesOf({ client }: Stage, work: Work): Promise<readonly OutboxReply[]> {
  const { items } = await client.outbox({ conversation: work.conversationId });
  return items.filter(({ code, subjectId }) => code === NOTICE && subjectId === work.taskId);
}

/** The command of the notice opens it again; the work is answered, and its tool has run once. */
async function reopen({ stage, script, asked }: Scene, teller: Teller, work: Work): Promise<void> {
  script.phase = 'well';
  await teller.says('The provider is well again. An admin types the command of the notice.');
  const order = `/budget-reset ${work.taskId}`;
  await teller.writes(order);
  await teller.shows(await chat(stage, work.conversationId, order));
  const task = await stage.until('the task is completed', async () => {
    const now = await stage.client.task(work.taskId);
    return now.state === 'completed' ? now : undefined;
  });
  stage.expect(
    checks(asked).length === ATTEMPTS + 1,
    'one fresh check was made',
    checks(asked).length,
  );
  await teller.says('One fresh check says that it may go on, and the task is answered:');
  await teller.shows(await said(stage, work));
  const ran = stage.read(LEDGER).trim().split('\n');
  stage.expect(ran.length === 1, 'the tool ran once', ran);
  await teller.says('The ledger of the tool shows that it ran once, not again after the kill:');
  await teller.types(`cat workspace/${LEDGER}`);
  await teller.shows(ran.join('\n'));
  await teller.says('How it came, in the words of the host:');
  await teller.types(`sekisho why ${task.id}`);
  await teller.shows(await stage.run('why', task.id));
  await teller.says('That was all. The folder and the host of this demo are gone now.');
}
