import { exchangesOf, type Exchange } from '../../core/maintenance/exchange.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import type { ConversationId, SessionId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { EngineParts } from '../engine.ts';
import { readAgain } from '../settle.ts';
import { readClaimed } from '../turn/claimed.ts';

type RangeParts = Pick<EngineParts, 'store' | 'clock' | 'log'>;

interface Of {
  readonly conversationId: ConversationId;
  readonly sessionId: SessionId;
}

/**
 * The next exchanges of a session with `after` < place ≤ `upTo`, oldest first: a page of them, whole. `next`
 * is where the rest begins; null when this was all. A transcript of any size is read page by page.
 */
export async function readRange(
  parts: RangeParts,
  of: Of & { readonly after: number; readonly upTo: number },
): Promise<{ readonly exchanges: readonly Exchange[]; readonly next: number | null }> {
  const { conversationId, sessionId, after, upTo } = of;
  const limit = LIMITS.summaryPageSteps;
  const session = { conversationId, sessionId };
  const read = await readAgain(parts, 'step.ofSession', { ...session, after, upTo, limit });
  const isLast = read.length < limit;
  const steps = isLast ? read : wholeReplies(read);
  const end = isLast ? upTo : (steps.at(-1)?.seq ?? upTo);
  const messages = await readClaimed(parts, { ...session, after, upTo: end }, INPUTS_PAGE);
  return { exchanges: exchangesOf(messages, steps), next: isLast ? null : end };
}

/** Without the last reply of a full page, whose results may stand in the next. */
function wholeReplies(steps: readonly StepRecord[]): readonly StepRecord[] {
  const last = steps.findLastIndex(({ kind }) => kind === 'model');
  return last > 0 ? steps.slice(0, last) : steps;
}

// Few enough that little is read of what lies beyond the range.
const INPUTS_PAGE = 2 * LIMITS.inputsPerLookMax;

/** The newest exchanges of a session behind its cut, oldest first, until they have `charsMin` characters or are all. */
export async function readTail(
  parts: RangeParts,
  of: Of & { readonly after: number; readonly before: number; readonly charsMin: number },
): Promise<readonly Exchange[]> {
  const { conversationId, sessionId, after, before, charsMin } = of;
  for (let limit = LIMITS.summaryPageSteps; ; limit *= 2) {
    const asked = { conversationId, sessionId, before, after, limit };
    const newest = await readAgain(parts, 'step.before', asked);
    const isAll = newest.length < limit;
    const first = newest.findLast(({ kind }) => kind === 'model');
    const from = isAll ? after : (first?.seq ?? before) - 1;
    const steps = newest.filter(({ seq }) => seq > from);
    const upTo = before - 1;
    const place = { conversationId, sessionId, after: from, upTo };
    const messages = await readClaimed(parts, place, INPUTS_PAGE);
    const exchanges = exchangesOf(messages, steps);
    const chars = exchanges.reduce((sum, exchange) => sum + exchange.chars, 0);
    if (isAll || chars > charsMin) return exchanges;
  }
}
