import { mergeConditions } from '../../core/maintenance/conditions.ts';
import type { SaidWords } from '../../core/maintenance/exchange.ts';
import type { StandingCondition } from '../../core/maintenance/record.ts';
import type { EngineParts } from '../engine.ts';
import { foundIn } from './found.ts';
import { readRange } from './range.ts';
import type { Scene } from './scene.ts';

// What they may take of a window's free part, and what every window has room for, in characters.
const CONDITIONS_SHARE = 0.1;
const CONDITIONS_CHARS_MIN = 2_000;

/** What was known, and the standing conditions in what persons have said since (M-17); `free`: of the window, in characters. */
export async function heard(
  parts: Pick<EngineParts, 'clock'>,
  known: readonly StandingCondition[],
  said: readonly SaidWords[],
  free: number,
): Promise<readonly StandingCondition[]> {
  const charsMax = Math.max(CONDITIONS_CHARS_MIN, free * CONDITIONS_SHARE);
  return mergeConditions(known, await foundIn(parts, said), charsMax);
}

/** The standing conditions of a session up to a place, where no summary of the host's own reads it. */
export async function heardIn(
  parts: EngineParts,
  { conversation, session, seed, free }: Scene,
  upTo: number,
): Promise<readonly StandingCondition[]> {
  const of = { conversationId: conversation.id, sessionId: session.id, upTo };
  let conditions = seed?.conditions ?? [];
  for (let next: number | null = session.cutSeq; next !== null;) {
    await parts.clock.sleep(0);
    const page = await readRange(parts, { ...of, after: next });
    for (const { said } of page.exchanges) conditions = await heard(parts, conditions, said, free);
    ({ next } = page);
  }
  return conditions;
}
