import type { OperationFault } from '../../core/maintenance/decide.ts';
import { Fault } from '../../kernel/fault.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Effect } from './effects.ts';
import { NOTHING_USED, type SummarySpent } from './summarise.ts';

/** What a try of a step came to, before it is recorded. */
export type Made =
  /** Its effect is committed with its outcome. `work` is what the next step goes on from. */
  | {
      readonly kind: 'done';
      readonly effect: Effect;
      readonly work: string | null;
      readonly spent: SummarySpent;
    }
  | {
      readonly kind: 'failed';
      readonly fault: OperationFault;
      readonly retryAt: Instant | null;
      readonly spent: SummarySpent;
    }
  /** It was rejected or cut and may have had effects (M-6). */
  | { readonly kind: 'uncertain'; readonly fault: OperationFault }
  | { readonly kind: 'gone' };

/** `work` is what the next step goes on from. */
export function done(
  effect: Effect,
  work: string | null = null,
  spent: SummarySpent = NOTHING_USED,
): Made {
  return { kind: 'done', effect, work, spent };
}

export function failed(code: string, said = '', spent: SummarySpent = NOTHING_USED): Made {
  return { kind: 'failed', fault: { code, said }, retryAt: null, spent };
}

/** What something thrown says: its code, as a notice names it. */
export function faultOf(error: unknown): OperationFault {
  const said = error instanceof Error ? error.message.slice(0, LIMITS.providerWordsMax) : '';
  const code = error instanceof Fault ? error.code : codeOf(error);
  return { code, said };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code.toLowerCase() : 'internal';
}
