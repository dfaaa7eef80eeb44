import type { MessageRecord } from '../../core/inbox/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Read, Unit } from '../../ports/store.ts';
import { queueText } from '../outbox/queue.ts';
import { Ledger } from '../session/ledger.ts';

/** `drops`: `/stop all` also ends what no turn has taken up, up to the command's own place (W-1). */
export type AnswerMode =
  | { readonly drops: false }
  | { readonly drops: true; readonly nothing: string; readonly dropped: (count: number) => string };

type AnswerReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly command: Read<'message.byId'>;
  readonly unclaimed: Read<'message.claimable'>;
};

/** Answers a command once: its message is done and the answer is in the outbox, in one commit. */
export function answerUnit(
  message: MessageRecord,
  text: string,
  mode: AnswerMode,
): Unit<AnswerReads, 'answered'> {
  const { id, conversationId, seq } = message;
  return {
    name: 'command.answer',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      command: { read: 'message.byId', args: { id } },
      unclaimed: {
        read: 'message.claimable',
        args: { conversationId, limit: mode.drops ? LIMITS.stopAllMax : 1 },
      },
    },
    decide: ({ conversation, command, unclaimed }, at) => {
      if (conversation === undefined || command === undefined || command.state === 'done') {
        return { verdict: 'answered', writes: [] };
      }
      const ledger = new Ledger(conversation, at, message.principal);
      const dropped = mode.drops
        ? unclaimed.filter((input) => input.taskId === null && input.seq < seq)
        : [];
      const words = mode.drops ? wordsOf(text, mode, dropped.length) : text;
      const key = `answer:${id}`;
      const about = { conversationId, key, kind: 'answer', text: words, subjectId: id } as const;
      const answerId = queueText(ledger, { ...about, taskId: null, runId: null });
      for (const input of [command, ...dropped])
        ledger.add({ write: 'message.done', id: input.id, answerId });
      return { verdict: 'answered', writes: ledger.close() };
    },
  };
}

function wordsOf(text: string, mode: Extract<AnswerMode, { drops: true }>, count: number): string {
  const lines = [text, count === 0 ? '' : mode.dropped(count)].filter((line) => line !== '');
  return lines.length === 0 ? mode.nothing : lines.join('\n');
}
