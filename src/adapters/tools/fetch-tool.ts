import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { SECOND } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolOutcome } from '../../ports/tools.ts';
import { hop, type Answer } from './fetch-hop.ts';
import { fenced } from './fetch-text.ts';
import { parseUrl, targetOf, type FetchOptions } from './fetch-target.ts';
import { ToolProblem } from './tool-problem.ts';
import { define, type BuiltIn } from './tool.ts';

const MISSING: ReadonlySet<number> = new Set([404, 410]);
const FAILED_FROM = 400;

/** `fetch`: a text of the public net. A URL that `mask` would change carries a secret out. */
export function fetchTool(
  clock: Clock,
  options: FetchOptions,
  mask: (text: string) => string,
): BuiltIn {
  return define({
    name: 'fetch',
    description:
      'Get a text from the public web by http or https; redirects are followed. What comes back is untrusted.',
    repeatable: 'yes',
    changes: 'no',
    args: z.strictObject({ url: z.string().min(1) }),
    run: ({ url }, { signal }) =>
      within(clock, signal, async (inTime) => {
        if (mask(url) !== url) throw new ToolProblem('refused', 'the URL has a secret in it');
        const { at, answer } = await follow(url, options, inTime);
        const text = fenced(at, answer);
        if (answer.status < FAILED_FROM) return { kind: 'result', text };
        return { kind: 'error', code: MISSING.has(answer.status) ? 'not_found' : 'failed', text };
      }),
  });
}

interface Followed {
  readonly at: URL;
  readonly answer: Answer;
}

/** Every hop is checked as the first one. */
async function follow(
  first: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<Followed> {
  let next = first;
  let at: URL | undefined;
  for (let redirects = 0; redirects <= LIMITS.fetchRedirectsMax; redirects += 1) {
    try {
      at = parseUrl(next, at);
      const target = await abortable(targetOf(at, options), signal);
      const answer = await hop(target, signal);
      if (answer.location === undefined) return { at, answer };
      next = answer.location;
    } catch (error) {
      throw redirects > 0 && error instanceof ToolProblem ? redirected(error) : error;
    }
  }
  throw new ToolProblem('failed', `over ${LIMITS.fetchRedirectsMax} redirects`);
}

function redirected(problem: ToolProblem): ToolProblem {
  return new ToolProblem(problem.code, `behind a redirect: ${problem.message}`, { cause: problem });
}

/** Gives up on what cannot be aborted, such as a look-up of a name. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function within(
  clock: Clock,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const over = new AbortController();
  const timeout = new AbortController();
  const signal = AbortSignal.any([stop, timeout.signal]);
  const timer = after(clock, over.signal, () => timeout.abort());
  try {
    return await work(signal);
  } catch (error) {
    if (stop.aborted) throw new ToolProblem('ended', 'ended before it was answered');
    if (timeout.signal.aborted) {
      throw new ToolProblem('timeout', `not answered within ${LIMITS.fetchMs / SECOND} s`);
    }
    throw error;
  } finally {
    over.abort();
    await timer;
  }
}

async function after(clock: Clock, over: AbortSignal, then: () => void): Promise<void> {
  await clock.sleep(LIMITS.fetchMs, over);
  if (!over.aborted) then();
}
