import type { MessageRecord } from '../../core/inbox/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { MessageId, OutboxId, TaskId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Read, Unit } from '../../ports/store.ts';
import { queueText } from '../outbox/queue.ts';
import { Ledger } from '../session/ledger.ts';

/**
 * `drops`: `/stop all` also ends what no turn has taken up, up to the command's own place (W-1).
 * `seen`: the tasks that it has stopped or may not stop.
 */
export type AnswerMode =
  | { readonly drops: false }
  | {
      readonly drops: true;
      readonly seen: ReadonlySet<TaskId>;
      readonly nothing: string;
      readonly dropped: (count: number) => string;
    };

type AnswerReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly command: Read<'message.byId'>;
  readonly unbound?: Read<'message.unbound'>;
  readonly open?: Read<'task.openOf'>;
};

/** `more`: a task that was asked for before the command came to be and is not among `seen`. */
export type Answered = 'answered' | 'more';

/** Answers a command once: its message is done and the answer is in the outbox, in one commit. */
export function answerUnit(
  message: MessageRecord,
  text: string,
  mode: AnswerMode,
): Unit<AnswerReads, Answered> {
  const { id, conversationId } = message;
  const limit = LIMITS.stopAllMax;
  return {
    name: 'command.answer',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      command: { read: 'message.byId', args: { id } },
      ...(mode.drops
        ? {
            unbound: { read: 'message.unbound', args: { conversationId, limit } },
            open: { read: 'task.openOf', args: { conversationId, limit } },
          }
        : {}),
    },
    decide: ({ conversation, command, unbound = [], open = [] }, at) => {
      if (conversation === undefined || command === undefined || command.state === 'done') {
        return { verdict: 'answered', writes: [] };
      }
      if (mode.drops && open.some((task) => isLeft(task, message, mode.seen)))
        return { verdict: 'more', writes: [] };
      const ledger = new Ledger(conversation, at, message.principal);
      const dropped = unbound.filter((input) => mayDrop(input, message));
      const words = mode.drops ? wordsOf(text, mode, dropped.length) : text;
      const answerId = closeCommand(ledger, message, { text: words });
      for (const input of dropped) ledger.add({ write: 'message.done', id: input.id, answerId });
      return { verdict: 'answered', writes: ledger.close() };
    },
  };
}

export type CommandReads = { readonly command?: Read<'message.byId'> };

/** Of the command that gave an order and is answered by its commit; nothing where there is none. */
export function commandReads(id: MessageId | undefined): CommandReads {
  return id === undefined ? {} : { command: { read: 'message.byId', args: { id } } };
}

/** Closes a command with the entry that answers it, or with these words; gives the entry. */
export function closeCommand(
  ledger: Ledger,
  { id, conversationId }: Pick<MessageRecord, 'id' | 'conversationId'>,
  answer: OutboxId | { readonly text: string },
): OutboxId {
  const about = { conversationId, key: `answer:${id}`, kind: 'answer', subjectId: id } as const;
  const answerId =
    typeof answer === 'string'
      ? answer
      : queueText(ledger, { ...about, text: answer.text, taskId: null, runId: null });
  if (typeof answer === 'string')
    ledger.event('command.answered', { data: { messageId: id, outboxId: answer } });
  ledger.add({ write: 'message.done', id, answerId });
  return answerId;
}

/** What was asked for after a command is not what the command meant, also when a crash repeats it. */
export function wasAskedBefore(task: TaskRecord, command: MessageRecord): boolean {
  return task.mandateAt <= command.at;
}

/** History is stopped by its id alone (V9). */
export function isStoppedInBulk({ enrollment }: TaskRecord): boolean {
  return enrollment === 'current';
}

function isLeft(task: TaskRecord, command: MessageRecord, seen: ReadonlySet<TaskId>): boolean {
  return isStoppedInBulk(task) && wasAskedBefore(task, command) && !seen.has(task.id);
}

/** Said before the command, and by whom the command may speak for (W-1). */
export function mayDrop(input: MessageRecord, command: MessageRecord): boolean {
  if (input.seq > command.seq) return false;
  return command.authority === 'admin' || input.principal === command.principal;
}

function wordsOf(text: string, mode: Extract<AnswerMode, { drops: true }>, count: number): string {
  const lines = [text, count === 0 ? '' : mode.dropped(count)].filter((line) => line !== '');
  return lines.length === 0 ? mode.nothing : lines.join('\n');
}
