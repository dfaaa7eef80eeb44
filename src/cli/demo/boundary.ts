import { startDemoModel, type DemoAnswer, type DemoQuestion } from '../../compose/demo-model.ts';
import type { TaskReply } from '../../wire/task.ts';
import { chat, said } from './chat.ts';
import { Stage } from './stage.ts';
import { Teller } from './teller.ts';

/** What the old installation was working on when it died: their messages have no recorded end. */
const ONGOING = ['Translate the handbook', 'Sort the photos of the trip'] as const;
/** What it had asked about, long ago, and nobody answered. */
const OLD = [
  'Book the train to Kyoto',
  'Find a plumber',
  'Order paper for the printer',
  'Draft the speech for May',
  'Compare three phone plans',
  'Plan the garden',
  'Cancel the gym',
  'Write to the landlord',
  'Collect recipes for ten guests',
  'Renew the passport',
  'Tidy the shared folder',
  'Choose a present for Mia',
  'Check the warranty of the oven',
  'Make a list of old bills',
  'Ask for a quote for the roof',
  'Look for a piano teacher',
  'Prepare the tax papers',
  'Read up on heat pumps',
] as const;
const WOKEN = OLD[0];
const FILE = 'old.jsonl';
const LISTED = 200;

/** How the scripted model behaves; the demo moves it on. */
interface Script {
  phase: 'old' | 'new';
}

interface Scene {
  readonly stage: Stage;
  readonly script: Script;
  readonly asked: readonly DemoQuestion[];
  readonly url: string;
}

/**
 * Shows what becomes of imported work: what nothing proves to be ongoing is held, whatever kills the start
 * that finds out, and one exact command wakes exactly one task. Throws `DemoFailed`.
 */
export async function demoBoundary(): Promise<void> {
  const stage = new Stage();
  const script: Script = { phase: 'old' };
  const model = await startDemoModel((question) => answer(script, question));
  try {
    await play({ stage, script, asked: model.asked, url: model.url });
  } finally {
    await stage.clear();
    await model.close();
  }
}

function answer({ phase }: Script, { asks, text }: DemoQuestion): DemoAnswer {
  if (asks === 'assessment')
    return { say: JSON.stringify({ verdict: 'continue', reason: 'It is still wanted.' }) };
  if (phase === 'new') return { say: 'This is done now.' };
  if (ONGOING.some((request) => text.includes(request))) return 'stall';
  return { call: 'task_wait', args: { for: 'answer', question: 'Shall I really?' } };
}

async function play(scene: Scene): Promise<void> {
  const teller = new Teller();
  await leaveOld(scene, teller);
  await bringIn(scene, teller);
  await findHistory(scene, teller);
  await wakeOne(scene, teller);
  await teller.says('That was all. The folder and the host of this demo are gone now.');
}

/** An old installation: many questions that nobody answered, and two tasks in the middle of work. */
async function leaveOld({ stage, script, asked, url }: Scene, teller: Teller): Promise<void> {
  stage.data = 'old';
  stage.configure(url);
  await teller.says('An old installation: it has asked its people much, and works on two things.');
  await teller.types('sekisho start');
  await teller.shows(await stage.start());
  const { client } = stage;
  await client.openConversation(DESK);
  for (const input of [...OLD, ...ONGOING]) await client.createRun({ input });
  await stage.until('the old tasks wait', async () => {
    const { waiting, active } = (await client.status()).tasks;
    return waiting === OLD.length && active === ONGOING.length ? true : undefined;
  });
  await stage.until('the model is asked about what is ongoing', () => {
    const isAsked = (request: string): boolean => asked.some(({ text }) => text.includes(request));
    return Promise.resolve(ONGOING.every(isAsked) || undefined);
  });
  await teller.shows(`tasks: ${OLD.length} wait for an answer, ${ONGOING.length} are worked on`);
  await teller.says(
    'Its machine dies. What is left is exported, and brought into a new installation.',
  );
  await teller.types(`kill -9 ${stage.pid}`);
  await stage.kill();
  script.phase = 'new';
  await teller.types(`sekisho export ${FILE}`);
  await teller.shows(await stage.run('export', FILE));
}

/** Where somebody reads what the host has to say. */
const DESK = { channel: 'terminal', address: 'desk' } as const;

async function bringIn({ stage, url }: Scene, teller: Teller): Promise<void> {
  stage.data = 'data';
  stage.configure(url);
  await teller.types(`sekisho import ${FILE}`);
  await teller.shows(await stage.run('import', FILE));
  await teller.says('The new host starts, and is killed in the middle of its start.');
  await teller.types('sekisho start');
  await stage.startAndKill();
  await teller.types(`kill -9 ${stage.pid}`);
}

/** The second start gives the result that the first would have given, and tells it once. */
async function findHistory({ stage, asked }: Scene, teller: Teller): Promise<void> {
  await teller.says('It is started again.');
  await teller.types('sekisho start');
  await teller.shows(await stage.start());
  const { id: desk } = await stage.client.openConversation(DESK);
  const summary = await stage.until('the summary is told', async () => {
    const { items } = await stage.client.outbox({ conversation: desk });
    return items.find(({ kind }) => kind === 'notice');
  });
  await teller.says('It says once what it found:');
  await teller.shows(summary.text);
  stage.expect(summary.text.includes(String(OLD.length)), 'the summary counts them', summary.text);
  await completed(stage, ONGOING.length);
  await expectOnly({ stage, asked }, [...ONGOING]);
  await teller.says(
    'The two that a message without an end proves are checked, go on, and are answered:',
  );
  const done = await named(stage, 'completed');
  await teller.shows(done.map(({ mandate }) => `completed: ${mandate.text}`).join('\n'));
  await teller.says('Everything else is held, readable and unchanged.');
  await teller.writes('/tasks held');
  await teller.shows(await chat(stage, desk, '/tasks held'));
}

/** One exact command wakes one task, and nothing else. */
async function wakeOne({ stage, asked }: Scene, teller: Teller): Promise<void> {
  const { id: desk } = await stage.client.openConversation(DESK);
  const held = await heldTasks(stage);
  stage.expect(held.length === OLD.length, `${OLD.length} are held`, held.length);
  const task = held.find(({ mandate }) => mandate.text === WOKEN);
  if (task === undefined) throw new Error('the demo knows its own tasks');
  const order = `/task-resume ${task.id}`;
  await teller.says(`An admin wakes exactly one of them, “${WOKEN}”.`);
  await teller.writes(order);
  await teller.shows(await chat(stage, desk, order));
  await completed(stage, ONGOING.length + 1);
  await teller.says('It is checked first, goes on, and is answered:');
  await teller.shows(await said(stage, { taskId: task.id, conversationId: task.conversationId }));
  await expectOnly({ stage, asked }, [...ONGOING, WOKEN]);
  const left = await heldTasks(stage);
  stage.expect(left.length === OLD.length - 1, 'all others are held still', left.length);
  await teller.says(`Nothing else has moved: ${left.length} are held still.`);
  await teller.types('sekisho status');
  await teller.shows(await stage.run('status'));
}

async function named({ client }: Stage, state: TaskReply['state']): Promise<readonly TaskReply[]> {
  return (await client.tasks({ state, limit: LISTED })).items;
}

async function heldTasks({ client }: Stage): Promise<readonly TaskReply[]> {
  const { items } = await client.tasks({ enrollment: 'held-legacy', limit: LISTED });
  return items.filter(({ state }) => state === 'blocked');
}

async function completed(stage: Stage, count: number): Promise<void> {
  await stage.until(`${count} tasks are completed`, async () =>
    (await named(stage, 'completed')).length === count ? true : undefined,
  );
}

/** Nothing but these was ever asked about since the import. */
async function expectOnly(
  { stage, asked }: Pick<Scene, 'stage' | 'asked'>,
  requests: readonly string[],
): Promise<void> {
  const checked = asked.filter(({ asks }) => asks === 'assessment');
  const others = OLD.filter((request) => !requests.includes(request));
  const astray = checked.filter(({ text }) => others.some((request) => text.includes(request)));
  const isChecked = (request: string): boolean =>
    checked.some(({ text }) => text.includes(request));
  stage.expect(requests.every(isChecked), 'each was checked', checked.length);
  stage.expect(astray.length === 0, 'nothing else was checked', astray);
  const done = await named(stage, 'completed');
  const names = done.map(({ mandate }) => mandate.text).toSorted();
  stage.expect(
    JSON.stringify(names) === JSON.stringify([...requests].toSorted()),
    'these and no others went on',
    names,
  );
}
