import { HOST_CHANNELS } from '../../core/inbox/record.ts';
import type { RunRecord } from '../../core/run/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { HostId, MessageId } from '../../kernel/ids.ts';
import { hostName } from '../../kernel/principal.ts';
import type { EngineParts } from '../engine.ts';
import type { Ledger } from '../session/ledger.ts';
import { requestOf } from '../task/mandate.ts';
import { insertMessage } from './insert.ts';

type Digesting = Pick<EngineParts, 'digest'>;

export interface GeneratedInput {
  readonly id: MessageId;
  readonly channel: (typeof HOST_CHANNELS)[keyof typeof HOST_CHANNELS];
  /** Unique in its channel: the cause of the input, so that one cause makes one (I-1). */
  readonly externalId: string;
  /** What the model is told; nothing when the session says it all. */
  readonly text: string;
}

/** Whose task it is for, and with what authority it acts. */
export type GeneratedFor = Pick<TurnRecord, 'conversationId' | 'taskId' | 'runId' | 'authority'> & {
  readonly hostId: HostId;
};

/** An input that the host makes for a task: the next turn of it reads it like a person's, with no more authority. */
export function generate(
  { digest }: Digesting,
  ledger: Ledger,
  { conversationId, taskId, runId, authority, hostId }: GeneratedFor,
  input: GeneratedInput,
): void {
  insertMessage(ledger, {
    ...input,
    conversationId,
    kind: 'generated',
    principal: hostName(hostId),
    authority,
    bodyHash: digest(input.text),
    replyTo: null,
    taskId,
    runId,
  });
}

/** The input that wakes a task: once for each of its versions; it quotes what it is about. */
export function wakeInput(id: MessageId, task: TaskRecord, text: string): GeneratedInput {
  const externalId = `${task.id}:${task.version}`;
  return { id, channel: HOST_CHANNELS.wake, externalId, text: `${text}\n\n> ${requestOf(task)}` };
}

/** Makes an input for a task, with no more authority than its mandate (T-11). */
export function generateFor(
  parts: Digesting,
  ledger: Ledger,
  about: {
    readonly task: TaskRecord;
    readonly run: RunRecord | undefined;
    readonly hostId: HostId;
  },
  input: GeneratedInput,
): void {
  const { id: taskId, conversationId, mandateAuthority: authority } = about.task;
  // A run that has its end keeps it: what goes on is the task.
  const runId = about.run?.state === 'open' ? about.run.id : null;
  generate(
    parts,
    ledger,
    { conversationId, taskId, runId, authority, hostId: about.hostId },
    input,
  );
}
