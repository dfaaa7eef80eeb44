import type { SessionSeed } from '../../core/maintenance/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelMessage } from '../../ports/model.ts';
import { sayFacts, saySeed } from '../../text/session-facts.ts';
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
  /** Of both. */
  readonly chars: number;
}

/** What an item takes beside its text. */
const ITEM_CHARS = 40;

/**
 * The seed of a session with the facts that are not left to it, read from the records as they are now (M-14,
 * M-17). `free`: characters that a request has beside instructions and tools.
 */
export async function sayShortened(
  parts: EngineParts,
  about: {
    readonly conversation: ConversationRecord;
    readonly task: TaskRecord | undefined;
    readonly sessionId: SessionId;
    readonly seed: SessionSeed;
    readonly free: number;
  },
): Promise<Shortened> {
  const { conversation, task, sessionId, seed, free } = about;
  const session = await readAgain(parts, 'session.byId', { id: sessionId });
  const said = seed.summary === '' ? '' : saySeed(seed);
  const known =
    session === undefined
      ? ''
      : sayFacts(
          await readSessionFacts(parts, { conversation, task, session }),
          Math.floor(free * LIMITS.factsShare),
        );
  const seedChars = said === '' ? 0 : said.length + ITEM_CHARS;
  const factsChars = known === '' ? 0 : known.length + ITEM_CHARS;
  return {
    seed: said === '' ? [] : [{ role: 'user', text: said }],
    facts: known === '' ? [] : [{ role: 'user', text: known }],
    seedChars,
    factsChars,
    chars: seedChars + factsChars,
  };
}
