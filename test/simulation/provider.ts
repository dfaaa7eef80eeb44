// The providers of the models: when their accounts answer, and what they say when they do not.
import type { ModelOutcome } from '../../src/ports/model.ts';
import { HOUR, MINUTE, SECOND, type Millis } from '../../src/kernel/time.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../src/testing/sim-random.ts';

export const ACCOUNTS = ['a', 'b'] as const;

/** What an account does for a while. */
const EPISODES = [
  'outage',
  'overload',
  'near',
  'far',
  'stubborn',
  'stubborn',
  'key_refused',
  'balance_refused',
  'model_gone',
] as const;
type EpisodeKind = (typeof EPISODES)[number] | 'unreachable';

interface Episode {
  readonly kind: EpisodeKind;
  readonly account: string;
  /** By the uptime clock. */
  readonly from: Millis;
  readonly to: Millis;
}

export type ProviderFault = Extract<ModelOutcome, { kind: 'fault' }>;

export class Providers {
  #episodes: Episode[] = [];

  constructor(random: Random, options: SimulationOptions) {
    const { faults, span, long } = options;
    for (let count = 0; count < faults.episodes; count += 1) {
      const kind = random.pick(EPISODES);
      const from = Math.floor(random.next() * span);
      const lengths = long ? [HOUR, 5 * HOUR, 24 * HOUR] : [10 * SECOND, MINUTE, 10 * MINUTE];
      const to = from + Math.ceil(random.pick(lengths) * (0.5 + random.next()));
      this.#episodes.push({ kind, account: random.pick(ACCOUNTS), from, to });
    }
    this.#planJudgesOutage(options);
  }

  /** Adds what an account does; for scenarios that are written by hand. */
  plan(episode: Episode): void {
    this.#episodes.push(episode);
  }

  /** Nobody reaches the one who judges, from when the first work is cut. */
  #planJudgesOutage(options: SimulationOptions): void {
    const { faults, span } = options;
    if (faults.judgeGone === 0) return;
    const from = span / 2;
    const to = from + faults.judgeGone * MINUTE;
    this.plan({ kind: 'unreachable', account: judgesAccount(options), from, to });
  }

  /** From here every account answers. */
  calm(): void {
    this.#episodes = [];
  }

  /** Whether a cheap probe reaches the account. */
  isReachable(account: string, elapsed: Millis): boolean {
    const kind = this.#now(account, elapsed)?.kind;
    return kind !== 'outage' && kind !== 'unreachable';
  }

  /** What a call to the account comes to now; undefined when it answers. */
  faultOf(
    account: string,
    at: { readonly elapsed: Millis; readonly wall: number },
    random: Random,
  ): ProviderFault | undefined {
    const episode = this.#now(account, at.elapsed);
    if (episode === undefined) return undefined;
    const left = episode.to - at.elapsed;
    return FAULTS[episode.kind]({ ...at, left, random });
  }

  #now(account: string, elapsed: Millis): Episode | undefined {
    return this.#episodes.find(
      (one) => one.account === account && one.from <= elapsed && elapsed < one.to,
    );
  }
}

/** Whoever answers the turns judges them too, or another provider does. */
export function judgesAccount({ sharesAccount }: Pick<SimulationOptions, 'sharesAccount'>): string {
  return sharesAccount ? 'b' : 'a';
}

interface Telling {
  readonly wall: number;
  readonly left: Millis;
  readonly random: Random;
}

const FAULTS: Readonly<Record<EpisodeKind, (telling: Telling) => ProviderFault>> = {
  outage: ({ random }) => fault('transient', random.pick(['connect', 'timeout', 'http_503'])),
  unreachable: () => fault('transient', 'connect'),
  overload: ({ random }) => fault('transient', random.pick(['http_429', 'http_529'])),
  near: ({ wall, random }) => limited(wall + random.between(1, 60) * SECOND),
  // It says when it can be used again, and keeps its word.
  far: ({ wall, left }) => limited(wall + Math.max(left, 61 * SECOND)),
  // Each time a little later.
  stubborn: ({ wall, random }) => limited(wall + random.between(61, 90) * SECOND),
  key_refused: () => fault('refused', 'http_401', 'account'),
  balance_refused: () => fault('refused', 'http_402', 'account'),
  model_gone: () => fault('refused', 'http_404', 'model'),
};

export function limited(retryAt: number): ProviderFault {
  return { ...fault('transient', 'http_429'), retryAt };
}

export function fault(
  kind: ProviderFault['class'],
  code: string,
  scope?: NonNullable<ProviderFault['scope']>,
): ProviderFault {
  return {
    kind: 'fault',
    class: kind,
    code,
    message: `injected ${code}`,
    retryAt: null,
    usage: null,
    ...(scope === undefined ? {} : { scope }),
  };
}

/** What a stream that was cut had used by then. */
export const CUT_USAGE = { inputTokens: 30, outputTokens: 3, cost: 2 } as const;

/** A fault of one call, whatever the account does. */
export function passingFault(random: Random, wall: number): ProviderFault {
  return random.pick([
    () => fault('refused', 'http_400', 'request'),
    () => fault('transient', 'http_500'),
    () => fault('transient', 'http_429'),
    () => fault('transient', 'timeout'),
    () => fault('transient', 'reset'),
    () => ({ ...fault('transient', 'cut_stream'), usage: CUT_USAGE }),
    () => fault('transient', 'empty'),
    () => limited(wall + random.between(1, 60) * SECOND),
  ])();
}
