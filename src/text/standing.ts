import type { Instant } from '../kernel/time.ts';
import type { Catalogue, RefusalFacts } from './catalogue.ts';
import type { Reader } from './reader.ts';
import type { EndWord } from './recovery-texts.ts';
import { sayInstant, sayWhen } from './when.ts';

type Detail = Readonly<Record<string, string>>;

/**
 * How a task stands, as a refusal tells it: `state`, `since` when as an instant in digits, and `wait` what
 * it waits for, or `silent` without a reason on record; `detail` the budget that is used up, or why a worker
 * is not woken, `at` the
 * deadline that has passed. `now` is when it was refused.
 */
export function refusedStanding(
  {
    words,
    reader,
    now,
  }: { readonly words: Catalogue; readonly reader: Reader; readonly now: Instant },
  detail: Detail,
): Pick<RefusalFacts, 'standing' | 'isAsking' | 'hasEnded' | 'cause' | 'limit' | 'when'> {
  const { wait, detail: limit = '' } = detail;
  const limits: Readonly<Record<string, string>> = words.limits;
  const tell = (instant: Instant): string => sayWhen(reader, words, instant, now);
  const at = instantIn(detail['at']);
  const since = instantIn(detail['since']);
  return {
    standing:
      since === undefined
        ? undefined
        : standingIn(words, detail, sayInstant(reader, words.tag, since, now)),
    isAsking: wait === 'answer',
    hasEnded: ENDS.has(detail['state'] ?? ''),
    cause: causeIn(words.recovery, detail, tell),
    limit: Object.hasOwn(limits, limit) ? limits[limit] : undefined,
    when: at === undefined ? undefined : tell(at),
  };
}

const ENDS: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'stopped',
  'cancelled',
  'expired',
] satisfies EndWord[]);

/** What stands against an order, as a sentence: of a worker, or the check that comes before. */
function causeIn(
  { workers, checkDecides, safeModeChecks }: Catalogue['recovery'],
  { detail = '', reason, safeModeUntil }: Detail,
  tell: (instant: Instant) => string,
): string | undefined {
  const causes: Readonly<Record<string, string>> = workers;
  if (Object.hasOwn(causes, detail)) return causes[detail];
  if (reason !== 'interrupted') return undefined;
  const until = instantIn(safeModeUntil);
  return until === undefined ? checkDecides : safeModeChecks(tell(until));
}

function standingIn(
  { recovery, waits }: Catalogue,
  { state = '', wait = '' }: Detail,
  since: string,
): string | undefined {
  if (wait === 'silent') return recovery.silent({ since });
  if (wait === 'answer') return recovery.stands.asking({ since, wait: '' });
  const says: Readonly<Record<string, typeof recovery.stands.active>> = recovery.stands;
  const known: Readonly<Record<string, string>> = waits;
  if (!Object.hasOwn(says, state)) return undefined;
  return says[state]?.({
    since,
    wait: (Object.hasOwn(known, wait) ? known[wait] : undefined) ?? '',
  });
}

function instantIn(text: string | undefined): Instant | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
