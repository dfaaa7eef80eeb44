// The simulated world from the command line:
//   --seeds 5000 [--from N] [--threads N]   plays a set of seeds
//   --seed N [--trace]                      replays one, with its options and each of its steps
//   --enumerate                             lets a host die at every point of each scenario
//   --scenario N [--point N] [--trace]      replays one of these
//   --drill                                 plants each defect and looks when it is caught
// With --json each prints one JSON document. Exit code 1: something failed, or a set proved too little.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { drill } from './drill.ts';
import { optionsOf } from './options.ts';
import { describeDrill, describeEnumeration, describeSet } from './report.ts';
import { enumerate, tracePoint } from './enumerate.ts';
import { SCENARIOS } from './scenarios.ts';
import { simulate } from './simulate.ts';
import { playSeedsInThreads } from './threads.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    scenario: { type: 'string' },
    point: { type: 'string', default: '0' },
    trace: { type: 'boolean', default: false },
    drill: { type: 'boolean', default: false },
    enumerate: { type: 'boolean', default: false },
    threads: { type: 'string', default: String(availableParallelism()) },
    json: { type: 'boolean', default: false },
    /** A set with an event that fewer seeds reached is red. */
    floor: { type: 'string', default: '20' },
  },
});

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const say = (text: string, data: unknown): void => print(values.json ? JSON.stringify(data) : text);
const trace = values.trace ? print : undefined;

if (values.seed !== undefined) await one(Number(values.seed));
if (values.scenario !== undefined) await point(Number(values.scenario), Number(values.point));
if (values.seeds !== undefined) await many(Number(values.from), Number(values.seeds));
if (values.enumerate) await allPoints();
if (values.drill) await allDefects();

async function one(seed: number): Promise<void> {
  const outcome = await simulate({ options: optionsOf(seed), trace });
  for (const problem of outcome.problems) print(problem);
  print(`seed ${seed}: ${outcome.steps} steps, trace ${outcome.traceHash.toString(16)}`);
  if (outcome.problems.length > 0) process.exitCode = 1;
}

async function point(scenario: number, at: number): Promise<void> {
  const chosen = SCENARIOS[scenario];
  if (chosen === undefined) throw new RangeError(`there are ${SCENARIOS.length} scenarios`);
  const outcome = await tracePoint(chosen, at, trace ?? (() => undefined));
  for (const problem of outcome.problems) print(problem);
  if (outcome.problems.length > 0) process.exitCode = 1;
}

async function many(from: number, seeds: number): Promise<void> {
  const set = await playSeedsInThreads({ from, seeds, threads: Number(values.threads) });
  const missed = set.sometimes.below(Number(values.floor));
  const { sometimes, ...counts } = set;
  say(describeSet(set, missed), {
    ...counts,
    sometimes: Object.fromEntries(sometimes.counts),
    missed,
  });
  if (set.failures.length > 0 || missed.length > 0 || set.seeds < seeds) process.exitCode = 1;
}

async function allPoints(): Promise<void> {
  for (const scenario of SCENARIOS) {
    // oxlint-disable-next-line no-await-in-loop -- one world at a time
    const enumeration = await enumerate(scenario);
    say(describeEnumeration(enumeration), enumeration);
    if (enumeration.failures.length > 0 || enumeration.points === 0) process.exitCode = 1;
  }
}

async function allDefects(): Promise<void> {
  const drilled = await drill();
  say(describeDrill(drilled), drilled);
  if (drilled.some(({ caughtAt }) => caughtAt === null)) process.exitCode = 1;
}
