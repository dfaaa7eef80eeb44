import type { LimiterRecord } from '../../core/budget/record.ts';
import type { Instant } from '../../kernel/time.ts';
import type { Model } from '../../ports/model.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { cutName } from '../../text/quote.ts';
import type { EngineParts } from '../engine.ts';

type Known = Pick<EngineParts, 'models' | 'classifier'>;

/**
 * The limiters that stand in somebody's way now: of accounts that a configured model uses, unreachable
 * or closed until an instant that is still to come.
 */
export function standingLimiters(
  known: Known,
  limiters: readonly LimiterRecord[],
  now: Instant,
): readonly LimiterRecord[] {
  return limiters.filter(({ account, state, until }) => {
    const isClosed = state === 'down' || (state !== 'open' && until !== null && until > now);
    return isClosed && modelsOf(known, account).length > 0;
  });
}

/** The configured models that are asked through this account, each once as `provider/name`. */
export function modelsOf({ models, classifier }: Known, account: string): readonly string[] {
  const asked = [...models, classifier].filter((model) => model.account === account);
  return [...new Set(asked.map(({ provider, name }: Model) => `${provider}/${name}`))];
}

/** More are counted. */
const MODELS_NAMED = 3;

/**
 * An account in the words of a sentence, with its state: by the models that are asked through it, for its
 * own name tells a person nothing.
 */
export function sayAccount(
  words: Catalogue,
  known: Known,
  { account, state, code }: LimiterRecord,
): { readonly name: string; readonly state: string } {
  const { limiterStates } = words.answers;
  const models = modelsOf(known, account);
  const rest = models.length - MODELS_NAMED;
  const named = models.slice(0, MODELS_NAMED).map(cutName);
  const isUnreached = state === 'down' && UNREACHED.has(code ?? '');
  return {
    name: [...named, ...(rest > 0 ? [words.andMore(String(rest))] : [])].join(', '),
    state: limiterStates[isUnreached ? 'unreached' : state],
  };
}

/** Codes of calls that found nobody; with any other somebody was there. */
const UNREACHED: ReadonlySet<string> = new Set(['connect']);
