import { mkdirSync, writeFileSync } from 'node:fs';
import { startDemoModel, type DemoModel } from '../../compose/demo-model.ts';
import { LIMITS } from '../../kernel/limits.ts';
import {
  answerContext,
  CONDITION,
  DELETE,
  letterPath,
  LETTERS,
  letterText,
  REFUSAL,
  REMINDER,
  toldBy,
  type ContextScript,
} from './context-model.ts';
import { goOn, MEMBER, pauseConversation } from './context-pause.ts';
import {
  askToRead,
  begin,
  currentSession,
  readUntilShortened,
  settled,
  type ContextScene,
} from './context-scene.ts';
import { when } from '../when.ts';
import { Stage } from './stage.ts';
import { Teller } from './teller.ts';

/** Of the scripted model, in tokens: little enough that a few letters fill it. */
const WINDOW = 10_000;
const ADMIN = { name: 'ops', scopes: ['run', 'read', 'admin'] } as const;

/**
 * Shows what becomes of a conversation that outgrows its model's window: it is shortened and goes on knowing
 * what it must; where that keeps failing it stops with one notice, keeps every message, and goes on when an
 * admin lets it. Throws `DemoFailed`.
 */
export async function demoContext(): Promise<void> {
  const stage = new Stage();
  const script: ContextScript = { areSummariesMade: true };
  const answer = answerContext.bind(undefined, script);
  const model = await startDemoModel(answer, { window: WINDOW });
  try {
    await play(stage, script, model);
  } finally {
    await stage.clear();
    await model.close();
  }
}

async function play(
  stage: Stage,
  script: ContextScript,
  { url, asked }: Pick<DemoModel, 'url' | 'asked'>,
): Promise<void> {
  const teller = new Teller();
  // A letter more still fits when room is made. The notice that it waits is held back for five seconds: all
  // seven tries take a little more.
  const more = ['maintenance: { startAt: 0.75, firstDelaySeconds: 0.5, maxDelaySeconds: 1.2 }'];
  stage.configure(url, { window: WINDOW, keys: [ADMIN, MEMBER], more });
  layOutLetters(stage);
  const conversationId = await start(stage, teller);
  const scene: ContextScene = { stage, script, asked, conversationId, letters: 0 };
  await outgrow(scene, teller);
  await remember(scene, teller);
  await growOn(scene, teller);
  const blocked = await pauseConversation(scene, teller);
  await goOn(scene, teller, blocked);
  await teller.says('That was all. The folder and the host of this demo are gone now.');
}

function layOutLetters(stage: Stage): void {
  mkdirSync(stage.workspace('letters'));
  for (let number = 1; number <= LETTERS; number += 1)
    writeFileSync(stage.workspace(letterPath(number)), letterText(number));
}

/** Somebody says what is to hold, and what is to be done later. */
async function start(stage: Stage, teller: Teller): Promise<string> {
  await teller.says(
    `A host is started, in a folder of its own. Its model is a script that sees ${WINDOW} tokens at once.`,
  );
  await teller.types('sekisho start');
  await teller.shows(await stage.start());
  const { id: conversationId } = await stage.client.openConversation({ channel: 'terminal' });
  await teller.says('Somebody says what is to hold from now on, and asks for something later.');
  for (const text of [CONDITION, REMINDER]) {
    await teller.writes(text);
    const run = await settled(stage, await begin({ stage, conversationId }, text));
    await teller.shows(run.output ?? `(its task waits until ${when(run.waitsFor?.until ?? '')})`);
  }
  return conversationId;
}

/** Letters are read until the window is nearly full; then the older part is summarised. */
async function outgrow(scene: ContextScene, teller: Teller): Promise<void> {
  const { stage } = scene;
  await teller.says('Then they go through old letters, and the conversation outgrows the window.');
  await readUntilShortened(scene, async (answer) => {
    await teller.writes(askToRead(scene));
    await teller.shows(answer);
  });
  await teller.says(
    'The host has made room: a summary stands for what is older. Nothing was deleted.',
  );
  const { id } = await currentSession(scene);
  await teller.types(`sekisho session ${id}`);
  await teller.shows(await stage.run('session', id));
}

/** The model is asked to do what the person does not want, and is told so by the host. */
async function remember(
  { stage, asked, conversationId }: ContextScene,
  teller: Teller,
): Promise<void> {
  await teller.says(
    'Now the person asks for the very thing, and the model, which sees the summary, asks first:',
  );
  await teller.writes(DELETE);
  const id = await begin({ stage, conversationId }, DELETE);
  const waiting = await settled(stage, id);
  stage.expect(waiting.status === 'waiting', 'the person is asked first', waiting);
  await teller.shows(waiting.waitsFor?.question ?? '');
  const question = asked.findLast(({ asks }) => asks === 'turn');
  const { condition = '', open = '' } = question === undefined ? {} : toldBy(question);
  const areTold = condition !== '' && open !== '';
  stage.expect(areTold, 'the host tells the model of both', question?.text);
  await teller.says(
    'No summary has to remember that: the host itself writes what must not be lost into each request.',
  );
  await teller.shows(`${condition}\n${open}`);
  await teller.writes(REFUSAL);
  await stage.client.postMessage(conversationId, { text: REFUSAL });
  const kept = await stage.until('the task has its answer', async () => {
    const run = await stage.client.run(id);
    return run.status === 'completed' ? run : undefined;
  });
  await teller.shows(kept.output ?? '');
}

/** A session is shortened a few times; the next time another one follows it. */
async function growOn(scene: ContextScene, teller: Teller): Promise<void> {
  const from = scene.letters;
  while ((await currentSession(scene)).compactions < LIMITS.compactionsPerSession)
    await readUntilShortened(scene);
  await teller.says(
    `${scene.letters - from} letters later the session was shortened ${LIMITS.compactionsPerSession} times. ` +
      'Next time it is archived, and another one goes on from it.',
  );
}
