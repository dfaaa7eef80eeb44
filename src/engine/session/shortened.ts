import type { MessageRecord } from '../../core/inbox/record.ts';
import type { SessionSeed } from '../../core/maintenance/record.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import { ITEM_CHARS } from '../../core/turn/transcript.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelMessage } from '../../ports/model.ts';
import { sayFacts, saySeed } from '../../text/session-facts.ts';
import { openWords, restated } from '../../text/model.ts';
import type { EngineParts } from '../engine.ts';
import { readSessionFacts } from '../maintenance/facts.ts';
import { readAgain } from '../settle.ts';

/** What stands in a request for the part of a session that was summarised. */
export interface Shortened {
  /** The summary, before the turns that stand word for word. */
  readonly seed: readonly ModelMessage[];
  /** What the host knows for certain, before the turn's own items (M-17). */
  readonly facts: readonly ModelMessage[];
  readonly seedChars: number;
  readonly factsChars: number;
  /** The latest words that nobody has answered and no turn that is shown has, said again. */
  readonly openChars: number;
  /** Of all. */
  readonly chars: number;
}

/**
 * The seed of a session as it is or would be, with the facts that are not left to it, read from the records as they are now (M-14,
 * M-17). `free`: characters that a request has beside instructions and tools.
 */
export async function sayShortened(
  parts: EngineParts,
  about: {
    readonly conversation: ConversationRecord;
    readonly task: TaskRecord | undefined;
    readonly session: SessionRecord;
    readonly seed: SessionSeed;
    readonly free: number;
  },
): Promise<Shortened> {
  const { conversation, task, session, seed, free } = about;
  // Standing conditions are among the facts, which hold where the summary says otherwise.
  const said = seed.summary === '' ? '' : saySeed({ summary: seed.summary, conditions: [] });
  const facts = await readSessionFacts(parts, { conversation, task, session });
  const known = sayFacts(facts, Math.floor(free * LIMITS.factsShare));
  const asked = { conversationId: conversation.id, limit: 1 };
  const [newest] = await readAgain(parts, 'message.newestSaid', asked);
  return shortened(said, known, newest?.taskId === task?.id ? sayUnanswered(newest, session) : '');
}

/**
 * The same of a session that was never shortened: the words that are still to be answered, where they were said
 * in another session that was given up (M-21). No facts speak of its task there, so that they are the task's own,
 * whatever others have said since.
 */
export async function sayOpen(
  parts: EngineParts,
  about: {
    readonly conversation: ConversationRecord;
    readonly task: TaskRecord | undefined;
    readonly session: SessionRecord;
  },
): Promise<Shortened> {
  const { conversation, task, session } = about;
  if (task === undefined) return shortened('', '', '');
  const asked = { conversationId: conversation.id, taskId: task.id };
  const said = (await readAgain(parts, 'message.openOfTask', asked))
    .filter(({ kind, claimedSeq }) => kind === 'genuine' && claimedSeq !== null)
    .toSorted((a, b) => Number(a.claimedSeq) - Number(b.claimedSeq));
  const open = sayUnanswered(said.at(-1), session);
  return shortened('', open === '' ? '' : restated(task.mandateText), open);
}

function shortened(seed: string, facts: string, open: string): Shortened {
  const [seedChars, factsChars, openChars] = [charsOf(seed), charsOf(facts), charsOf(open)];
  return {
    seed: [seed].filter(isSaid).map(toMessage),
    facts: [facts, open].filter(isSaid).map(toMessage),
    seedChars,
    factsChars,
    openChars,
    chars: seedChars + factsChars + openChars,
  };
}

function isSaid(text: string): boolean {
  return text !== '';
}

function toMessage(text: string): ModelMessage {
  return { role: 'user', text };
}

function charsOf(text: string): number {
  return text === '' ? 0 : text.length + ITEM_CHARS;
}

/** A person's words, whole, where no turn that is shown has them and nobody has answered (M-14). */
function sayUnanswered(
  said: MessageRecord | undefined,
  { cutSeq, firstSeq }: SessionRecord,
): string {
  if (said?.state !== 'claimed' || said.claimedSeq === null) return '';
  const isShown = said.claimedSeq > Math.max(cutSeq, firstSeq);
  return isShown ? '' : openWords(said.text);
}
