import type { DemoQuestion } from '../../compose/demo-model.ts';
import type { OperationReply, SessionReply } from '../../wire/maintenance.ts';
import type { RunReply } from '../../wire/run.ts';
import type { OutboxReply } from '../../wire/status.ts';
import { letterPath, type ContextScript } from './context-model.ts';
import type { Stage } from './stage.ts';

/** What the demo of a long conversation plays with. */
export interface ContextScene {
  readonly stage: Stage;
  readonly script: ContextScript;
  readonly asked: readonly DemoQuestion[];
  readonly conversationId: string;
  /** Letters that were read so far. */
  letters: number;
}

/** Says something as a run of the API. Gives its id. */
export async function begin(
  { stage, conversationId }: Pick<ContextScene, 'stage' | 'conversationId'>,
  input: string,
): Promise<string> {
  return (await stage.client.createRun({ input, conversation: conversationId })).id;
}

/** The run once its turn is over: it has ended, or waits. */
export async function settled(stage: Stage, runId: string): Promise<RunReply> {
  return stage.until('the run ends or waits', async () => {
    const run = await stage.client.run(runId);
    return run.status === 'queued' || run.status === 'running' ? undefined : run;
  });
}

/** Has the next letter read; gives what the model says of it. */
export async function readLetter(scene: ContextScene): Promise<string> {
  scene.letters += 1;
  const run = await settled(scene.stage, await begin(scene, askToRead(scene)));
  scene.stage.expect(run.status === 'completed', 'the letter is read', run);
  return run.output ?? '';
}

/** What is typed to have the letter read at which the demo is. */
export function askToRead({ letters }: ContextScene): string {
  return `Read ${letterPath(letters)}.`;
}

/** Letter after letter, until the conversation is maintained, and to the end of that. */
export async function readUntilShortened(
  scene: ContextScene,
  tell: (answer: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { compactions } = await currentSession(scene);
  while ((await openOperation(scene)) === undefined) {
    await tell(await readLetter(scene));
    if ((await currentSession(scene)).compactions > compactions) return;
  }
  await scene.stage.until('the session is shortened', async () =>
    (await currentSession(scene)).compactions > compactions ? true : undefined,
  );
}

export async function currentSession({
  stage,
  conversationId,
}: ContextScene): Promise<SessionReply> {
  const { sessionId } = await stage.client.conversation(conversationId);
  return stage.client.session(sessionId);
}

/** The operation that stands before the conversation; undefined while there is none. */
export async function openOperation({
  stage,
  conversationId,
}: ContextScene): Promise<OperationReply | undefined> {
  const of = { conversation: conversationId, state: 'open' } as const;
  return (await stage.client.operations(of)).items[0];
}

/** What left the conversation, oldest first. */
export async function outboxOf(
  { stage, conversationId }: ContextScene,
  isWanted: (entry: OutboxReply) => boolean,
): Promise<readonly OutboxReply[]> {
  const { items } = await stage.client.outbox({ conversation: conversationId, limit: LISTED });
  return items.filter(isWanted).toReversed();
}

const LISTED = 200;
