import type { Instant } from '../kernel/time.ts';
import type { Catalogue, RefusalFacts } from './catalogue.ts';
import type { Reader } from './reader.ts';
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
): Pick<RefusalFacts, 'standing' | 'isAsking' | 'cause' | 'limit' | 'when'> {
  const { wait, detail: limit = '' } = detail;
  const limits: Readonly<Record<string, string>> = words.limits;
  const causes: Readonly<Record<string, string>> = words.recovery.workers;
  const at = instantIn(detail['at']);
  const since = instantIn(detail['since']);
  return {
    standing:
      since === undefined
        ? undefined
        : standingIn(words, detail, sayInstant(reader, words.tag, since, now)),
    isAsking: wait === 'answer',
    cause: Object.hasOwn(causes, limit) ? causes[limit] : undefined,
    limit: Object.hasOwn(limits, limit) ? limits[limit] : undefined,
    when: at === undefined ? undefined : sayWhen(reader, words, at, now),
  };
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
