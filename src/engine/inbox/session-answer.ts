import type { MessageRecord } from '../../core/inbox/record.ts';
import { readSeed } from '../../core/maintenance/summary.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { readModelOutput } from '../../core/turn/transcript.ts';
import { ABOVE_ALL_IDS, isId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import { sayCount } from '../../text/number.ts';
import { cutName, quoteWords } from '../../text/quote.ts';
import { renderRefusal } from '../../text/render.ts';
import { sayWhen } from '../../text/when.ts';
import type { EngineParts } from '../engine.ts';
import type { Asker } from '../task/nearest.ts';
import { speak, type Speaking } from './speaking.ts';
import { shownLines } from './task-lines.ts';

/** What is told of a summary, of one line and of one condition; more would not be read on a phone. */
const SUMMARY_CHARS = 1_500;
const LINE_CHARS = 200;
const CONDITIONS_SHOWN = 8;
const LINES_SHOWN = 8;
/** Newest steps of a session that are looked through for its last lines. */
const STEPS_READ = 60;

/**
 * The sessions of the conversation, the newest first and each with those before and after it; or, of one,
 * when it was, its summary and what was said last in it (M-16).
 */
export async function saySessions(
  parts: EngineParts,
  asker: Asker,
  typed: string | null,
): Promise<string> {
  const speaking = speak(parts, parts.clock.now());
  if (typed !== null) return sayOne(parts, speaking, { asker, typed });
  const sessions = await newestSessions(parts, asker);
  const isWhole = sessions.length < LIMITS.listLimitMax;
  const lines = sessions.map((session) => () => sessionLine(speaking, session));
  return [...shownLines(speaking.words, lines, { isWhole }), speaking.words.sessions.more].join(
    '\n',
  );
}

function newestSessions(
  { store }: EngineParts,
  { conversationId }: Asker,
): Promise<readonly SessionRecord[]> {
  const newest = { before: ABOVE_ALL_IDS, limit: LIMITS.listLimitMax };
  return store.query('session.list', { conversationId, ...newest });
}

function sessionLine({ words, reader, now }: Speaking, session: SessionRecord): string {
  const { id, startedAt, endedAt, previousId, nextId } = session;
  const { sessions } = words;
  const links = [
    previousId === null ? '' : sessions.previous(previousId),
    nextId === null ? '' : sessions.next(nextId),
  ];
  return sessions.line({
    id,
    began: sayWhen(reader, words, startedAt, now),
    ended: endedAt === null ? null : sayWhen(reader, words, endedAt, now),
    links: links.filter((link) => link !== '').join(' '),
  });
}

async function sayOne(
  parts: EngineParts,
  speaking: Speaking,
  { asker, typed: id }: { readonly asker: Asker; readonly typed: string },
): Promise<string> {
  const { store, options } = parts;
  const found = isId('session', id) ? await store.query('session.byId', { id }) : undefined;
  const isSeen = asker.principal.isAdmin || found?.conversationId === asker.conversationId;
  const conversation =
    found && (await store.query('conversation.byId', { id: found.conversationId }));
  if (found === undefined || conversation === undefined || !isSeen) {
    const [first, ...rest] = (await newestSessions(parts, asker)).map((session) => session.id);
    const nearest = first === undefined ? undefined : nearestWord(id, [first, ...rest]);
    return renderRefusal(options, 'not_found', nearest === undefined ? { id } : { id, nearest });
  }
  return [
    sessionLine(speaking, found),
    ...saySeed(speaking, found),
    ...(await sayLast(parts, speaking, { session: found, conversation })),
  ].join('\n');
}

/** What stands for its older part. */
function saySeed(
  { words }: Speaking,
  { seed, compactions, endedAt }: SessionRecord,
): readonly string[] {
  const { sessions } = words;
  if (seed === null) return endedAt === null ? [sessions.noSummary] : [];
  const { summary, conditions } = readSeed(seed) ?? { summary: '', conditions: [] };
  const shown = conditions.slice(-CONDITIONS_SHOWN).map(({ text }) => `- ${quoted(words, text)}`);
  return [
    ...(compactions === 0 ? [] : [sessions.compactions(sayCount(words, compactions))]),
    sessions.summary(quoteWords(words, summary, SUMMARY_CHARS)),
    ...(shown.length === 0 ? [] : [sessions.conditions, ...shown]),
  ];
}

async function sayLast(
  { store }: EngineParts,
  { words }: Speaking,
  about: { readonly session: SessionRecord; readonly conversation: ConversationRecord },
): Promise<readonly string[]> {
  const { id: sessionId, conversationId } = about.session;
  const of = { conversationId, sessionId };
  const before = about.conversation.seq + 1;
  const newest = { ...of, after: 0, before, limit: STEPS_READ };
  const steps = await store.query('step.before', newest);
  const oldest = steps.length < STEPS_READ ? undefined : steps.at(-1);
  const after = Math.max(0, (oldest?.seq ?? 0) - 1);
  const asked = { ...of, after, limit: MESSAGES_READ };
  const messages = await store.query('message.ofSession', asked);
  const lines = [...messages.flatMap(saidIn), ...steps.flatMap((step) => answeredIn(step))]
    .toSorted((one, other) => one.seq - other.seq)
    .slice(-LINES_SHOWN);
  const { sessions } = words;
  if (lines.length === 0) return [sessions.nothingSaid];
  const said = lines.map(({ who, text }) =>
    sessions.said(who === null ? sessions.agent : cutName(who), quoted(words, text)),
  );
  return [sessions.last, ...said];
}

/** As many as the newest steps of a session can have claimed. */
const MESSAGES_READ = 500;

interface Line {
  readonly seq: number;
  /** Null for the agent itself. */
  readonly who: string | null;
  readonly text: string;
}

/** What a person said; what the host told the model is no line of the conversation. */
function saidIn({ kind, seq, claimedSeq, principal, text }: MessageRecord): readonly Line[] {
  return kind === 'genuine' ? [{ seq: claimedSeq ?? seq, who: principal, text }] : [];
}

function answeredIn(step: StepRecord): readonly Line[] {
  if (step.kind !== 'model' || step.state !== 'finished') return [];
  const { text } = readModelOutput(step);
  return text.trim() === '' ? [] : [{ seq: step.seq, who: null, text }];
}

function quoted(words: Speaking['words'], text: string): string {
  return quoteWords(words, text, LINE_CHARS);
}
