import { findConditions } from '../../core/maintenance/conditions.ts';
import type { SaidWords } from '../../core/maintenance/exchange.ts';
import type { StandingCondition } from '../../core/maintenance/record.ts';
import type { EngineParts } from '../engine.ts';

// That are looked through in one turn of the event loop: persons paste long texts one after another.
const CHARS_AT_ONCE = 40_000;

/** The standing conditions in what persons have said, in its order (M-17). */
export async function foundIn(
  { clock }: Pick<EngineParts, 'clock'>,
  said: readonly SaidWords[],
): Promise<readonly StandingCondition[]> {
  const found: StandingCondition[] = [];
  let chars = 0;
  for (const { at, text } of said) {
    if (chars > CHARS_AT_ONCE) await clock.sleep(0);
    chars = (chars > CHARS_AT_ONCE ? 0 : chars) + text.length;
    found.push(...findConditions(text).map((condition) => ({ at, text: condition })));
  }
  return found;
}
