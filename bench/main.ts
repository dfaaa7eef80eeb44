import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { load, type Figures } from './measure.ts';

interface Benchmark {
  readonly goal: string;
  /** Loaded when it is run, so that one benchmark does not pay for another's code. */
  run(options: Options): Promise<Figures>;
  /** Runs only where it is named. */
  readonly isLong?: boolean;
}

interface Options {
  readonly minutes: number;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  'Q-1': {
    goal: 'durable steps of 10-call turns: 0.5 of the floor with 1 conversation, 0.4 with 16, 0.3 with 64',
    run: async () => (await import('./steps.ts')).benchSteps(),
  },
  'Q-2': {
    goal: 'one-message turns over HTTP, 1 conversation: p50 6 ms, 6 ms CPU, 80 kB written, 3 commits',
    run: async () => (await import('./turns.ts')).benchTurns(),
  },
  'Q-3': {
    goal: 'the same in 16 conversations: 400 turns/s',
    run: async () => (await import('./turns.ts')).benchManyTurns(),
  },
  'Q-4': {
    goal: 'intake over 64 connections, acknowledged after fsync: 4000 messages/s, p99 60 ms',
    run: async () => (await import('./intake.ts')).benchIntake(),
  },
  'Q-5': {
    goal: 'cold start from source with a warm compile cache: 0.8 s; over a grown store 0.15 s more',
    run: async () => (await import('./start.ts')).benchStart(),
  },
  'Q-6': {
    goal: 'resident: 120 MiB when idle, 200 MiB after 100,000 turns',
    run: async () => (await import('./memory.ts')).benchMemory(),
  },
  'Q-7': {
    goal: 'killed in a model call, from the next start to the call of the assessment: 1.5 s',
    run: async () => (await import('./recovery.ts')).benchRecovery(),
  },
  'Q-8': {
    goal: 'lists and filters over 100,000 tasks: p50 2 ms (the API names no search over tasks yet: 10 ms)',
    run: async () => (await import('./lists.ts')).benchLists(),
  },
  'Q-9': {
    goal: 'event-loop stall of the host under Q-3: p99 20 ms (`maintenance` has the upkeep of a 100 MB transcript)',
    run: async () => (await import('./stalls.ts')).benchStalls(),
  },
  'Q-12': {
    goal: 'a model request for "hello" with all built-in tools: 12 kB',
    run: async () => (await import('./request.ts')).benchRequest(),
  },
  maintenance: {
    goal: 'the upkeep of a transcript of 100 MB in one session: event-loop stall p99 20 ms, resident 200 MiB',
    run: async () => (await import('./maintenance.ts')).benchMaintenance(),
  },
  boundary: {
    goal: 'the historical boundary over 100,000 stored tasks, 10,000 of them unresolved: 2 s, once',
    run: async () => (await import('./boundary.ts')).benchBoundary(),
  },
  soak: {
    goal: 'a host under load, disturbed every 20 s for `--minutes` (30): memory, handles and log flat',
    run: async ({ minutes }) => (await import('./soak.ts')).benchSoak(minutes),
    isLong: true,
  },
};

/** Prints one line of JSON for each benchmark that was named, or for all of them. */
async function main(names: readonly string[], options: Options): Promise<void> {
  const known = Object.keys(BENCHMARKS);
  const all = known.filter((name) => BENCHMARKS[name]?.isLong !== true);
  for (const name of names.length === 0 ? all : names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) throw new Error(`${name} is none of ${known.join(', ')}`);
    const before = load();
    const figures = await benchmark.run(options);
    const { goal } = benchmark;
    const where = { load: [before, load()], commit: commit(), node: process.versions.node };
    console.log(JSON.stringify({ id: name, goal, ...figures, ...where }));
  }
}

/** With a `+` when the files differ from it. */
function commit(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+';
    return git('rev-parse', '--short', 'HEAD') + changed;
  } catch {
    return 'unknown';
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '30' } },
});
await main(positionals, { minutes: Number(values.minutes) });
