import { findConditions, mergeConditions } from '../../core/maintenance/conditions.ts';
import type { SaidWords } from '../../core/maintenance/exchange.ts';
import type { StandingCondition } from '../../core/maintenance/record.ts';
import type { EngineParts } from '../engine.ts';
import { readRange } from './range.ts';
import type { Scene } from './scene.ts';

/** What was known, and the standing conditions in what persons have said since (M-17). */
export function heard(
  known: readonly StandingCondition[],
  said: readonly SaidWords[],
): readonly StandingCondition[] {
  const found = said.flatMap(({ at, text }) =>
    findConditions(text).map((condition) => ({ at, text: condition })),
  );
  return mergeConditions(known, found);
}

/** The standing conditions of a session up to a place, where no summary of the host's own reads it. */
export async function heardIn(
  parts: EngineParts,
  { conversation, session, seed }: Scene,
  upTo: number,
): Promise<readonly StandingCondition[]> {
  const of = { conversationId: conversation.id, sessionId: session.id, upTo };
  let conditions = seed?.conditions ?? [];
  for (let next: number | null = session.cutSeq; next !== null;) {
    const page = await readRange(parts, { ...of, after: next });
    for (const { said } of page.exchanges) conditions = heard(conditions, said);
    ({ next } = page);
  }
  return conditions;
}
