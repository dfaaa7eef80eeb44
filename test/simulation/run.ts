// The simulated world from the command line:
//   --seeds 5000 [--from N] [--threads N]   plays a set of seeds
//   --seed N [--trace]                      replays one, with its options and each of its steps
//   --enumerate                             lets a host die at every point of each scenario
//   --scenario N [--point N,N] [--trace]    replays one of these
//   --drill [--defect N]                    plants each defect, or one, and looks when it is caught
//   --seed N --defect N [--trace]           replays a seed with a defect
//   --seed N [--defect N] --save FILE       writes its script: options, steps, problems
//   --script FILE [--trace]                 plays one again and shows the first step that differs
// With --json each prints one JSON document. Exit code 1: something failed, or a set proved too little.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { inThreads } from './crew.ts';
import { DEFECTS } from './defects.ts';
import { placed } from './jobs.ts';
import { optionsOf } from './options.ts';
import { describeDrill, describeEnumeration, describeSet } from './report.ts';
import { tracePoints } from './enumerate.ts';
import { describeReplay, firstDifference, playSteps, readScript, saveScript } from './saved.ts';
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
    defect: { type: 'string' },
    save: { type: 'string' },
    script: { type: 'string' },
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
const threads = Number(values.threads);
const trace = values.trace ? print : undefined;

if (values.seed !== undefined) await one(Number(values.seed));
if (values.script !== undefined) await again(values.script);
if (values.scenario !== undefined) await replay(Number(values.scenario));
if (values.seeds !== undefined) await many(Number(values.from), Number(values.seeds));
if (values.enumerate) await allPoints();
if (values.drill) await allDefects();

async function one(seed: number): Promise<void> {
  const defect = values.defect === undefined ? undefined : placed(DEFECTS, Number(values.defect));
  const options = optionsOf(seed);
  const { outcome, steps } =
    values.save === undefined
      ? { outcome: await simulate({ options, defect, trace }), steps: [] }
      : await playSteps(options, defect);
  if (values.save !== undefined) {
    const number = values.defect === undefined ? null : Number(values.defect);
    saveScript(values.save, { options, defect: number, steps, problems: outcome.problems });
  }
  for (const problem of outcome.problems) print(problem);
  print(`seed ${seed}: ${outcome.steps} steps, trace ${outcome.traceHash.toString(16)}`);
  if (outcome.problems.length > 0) process.exitCode = 1;
}

/** Exit code 1: another step, or a problem that was not there. */
async function again(path: string): Promise<void> {
  const script = readScript(path);
  const defect = script.defect === null ? undefined : placed(DEFECTS, script.defect);
  const played = await playSteps(script.options, defect);
  for (const line of played.steps) trace?.(line);
  for (const line of [...describeReplay(script, played), ...played.outcome.problems]) print(line);
  const isSame = firstDifference(script.steps, played.steps) === undefined;
  if (!isSame || played.outcome.problems.length > script.problems.length) process.exitCode = 1;
}

async function replay(scenario: number): Promise<void> {
  const points = values.point.split(',').map(Number);
  const at = points.filter((point) => point > 0);
  const outcome = await tracePoints(placed(SCENARIOS, scenario), at, trace ?? (() => undefined));
  for (const problem of outcome.problems) print(problem);
  if (outcome.problems.length > 0) process.exitCode = 1;
}

async function many(from: number, seeds: number): Promise<void> {
  const set = await playSeedsInThreads({ from, seeds, threads });
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
  const orders = SCENARIOS.map((_, scenario) => ({ scenario }));
  for (const enumeration of await inThreads('scenario', orders, { threads })) {
    say(describeEnumeration(enumeration), enumeration);
    if (enumeration.failures.length > 0 || enumeration.points === 0) process.exitCode = 1;
  }
}

async function allDefects(): Promise<void> {
  const all = DEFECTS.map((_, defect) => ({ defect }));
  const orders = values.defect === undefined ? all : [{ defect: Number(values.defect) }];
  const drilled = await inThreads('defect', orders, { threads });
  say(describeDrill(drilled), drilled);
  if (drilled.some(({ caughtAt }) => caughtAt === null)) process.exitCode = 1;
}
