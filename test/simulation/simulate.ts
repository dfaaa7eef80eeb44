// One run of the simulated world: a safety phase under faults, a liveness phase without, and the
// ways out that the notices named.
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import type { Sometime } from './sometimes.ts';
import { takeWaysOut } from './ways.ts';
import type { WorldPlan } from './plans.ts';
import { World } from './world.ts';

export interface Outcome {
  readonly problems: readonly string[];
  readonly happened: ReadonlySet<Sometime>;
  readonly traceHash: number;
  readonly steps: number;
  /** Steps of hosts until the world was at rest. */
  readonly busyHostSteps: number;
  /** The same, the ways out included. */
  readonly hostSteps: number;
  readonly commits: number;
  readonly crashes: number;
  /** Virtual milliseconds. */
  readonly elapsed: number;
}

const SAFETY_STEPS_MAX = 4_000;
const REST_MAX = 2 * HOUR;
/** So many steps without rest are a livelock, whatever the clock says. */
const REST_STEPS_MAX = 30_000;
/** How long a world at rest is watched for what should not move any more. */
const QUIET = 2 * MINUTE;

export type Script = (world: World) => void;

/** Plays a plan to its end. `script` stands for the seed's own actions. */
export async function simulate(plan: WorldPlan, script?: Script): Promise<Outcome> {
  const world = new World(plan);
  const onRejection = (error: unknown): void => world.broken(error);
  process.on('unhandledRejection', onRejection);
  try {
    await play(world, script);
  } catch (error) {
    world.broken(error);
  } finally {
    process.off('unhandledRejection', onRejection);
    await world.end();
  }
  return {
    problems: world.problems,
    happened: world.happened,
    traceHash: world.scheduler.traceHash,
    steps: world.scheduler.steps,
    busyHostSteps: world.busyHostSteps,
    hostSteps: world.hostSteps,
    commits: world.commits,
    crashes: world.crashes,
    elapsed: world.scheduler.elapsed,
  };
}

async function play(world: World, script: Script | undefined): Promise<void> {
  world.begin();
  if (script === undefined) world.client.start();
  else script(world);
  const { scheduler, options } = world;
  const isOver = (): boolean =>
    (scheduler.elapsed > options.span * 2 && world.isAtRest) || scheduler.steps > SAFETY_STEPS_MAX;
  await until(world, isOver, scheduler.elapsed + options.span * 2 + 10 * MINUTE);
  world.calm();
  await rest(world);
  if (world.isBroken) return;
  world.busyHostSteps = world.hostSteps;
  world.judgeRest();
  await watchQuiet(world);
  if (!world.isBroken) await takeWaysOut(world, (done, deadline) => until(world, done, deadline));
}

/** Steps until `done`, looking now and then; false when `deadline` (virtual) came first. */
async function until(world: World, done: () => boolean, deadline: number): Promise<boolean> {
  const { scheduler } = world;
  let count = -1;
  let isDone = false;
  const goesOn = (): boolean => {
    count += 1;
    isDone = world.isBroken || (count <= REST_STEPS_MAX && count % 20 === 0 && done());
    if (isDone || count > REST_STEPS_MAX) return false;
    if (count % 500 === 0) seeStorm(world);
    return scheduler.elapsed <= deadline;
  };
  await world.drive(goesOn);
  return isDone || done();
}

/** Somebody sees the storm, or it calms by itself: an hour is long where somebody looks often. */
function seeStorm(world: World): void {
  const { seed, tickMs } = world.options;
  const isPatient = seed % 2 === 0 && tickMs >= MINUTE;
  if (world.hasFaults || isPatient || !world.look.isInSafeMode()) return;
  if (world.client.isDone) world.client.orderHost('end_safe_mode');
}

/** V20: with the faults ended everything comes to an end or to a state that names what it waits for. */
async function rest(world: World): Promise<void> {
  const most = REST_MAX + Math.max(0, world.look.lastAttemptAt() - world.wall.now());
  const isAtRest = await until(world, () => world.isAtRest, world.scheduler.elapsed + most);
  if (!isAtRest) world.problems.push(`V20 no rest in time: ${world.unrest()}`);
}

/** V20: a world at rest stays at rest. */
async function watchQuiet(world: World): Promise<void> {
  if (world.isBroken || world.options.seed % 10 !== 0) return;
  // News of the clock's trust comes by itself.
  const { faults: planned, shared } = world.options;
  if (planned.clockSteps + planned.clockLeaps > 0) return;
  // So does what a host finds that slept in its start.
  if (shared && planned.pauseEvery > 0) return;
  const { scheduler, look, wall } = world;
  // A host that has just started tells what it found, after a passing fault at its next look.
  await until(world, () => false, scheduler.elapsed + world.options.tickMs + QUIET / 4);
  // A turn may have been about to begin at the very moment at which all seemed to rest.
  await until(world, () => world.isAtRest, scheduler.elapsed + REST_MAX);
  const before = world.eventCount;
  if (look.isDueBefore(wall.now() + 2 * QUIET)) return;
  await until(world, () => false, scheduler.elapsed + QUIET);
  if (world.eventCount !== before) world.problems.push('V20 a world at rest went on by itself');
}
