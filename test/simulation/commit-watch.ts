// Judges single commits, at the moment at which they happen: what the rows alone no longer tell.
import { LIMITS } from '../../src/kernel/limits.ts';
import { SECOND } from '../../src/kernel/time.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { World } from './world.ts';

/** For units that are decided again after passing faults. */
const STOP_SLACK = 8 * SECOND;

type TurnEndWrite = Extract<Write, { write: 'turn.end' }>;

/** Adds to the world's problems; asked before the world's notes take in the commit. */
export function watchCommit(world: World, unit: CommittedUnit): void {
  if (unit.unit === 'lease.start' && world.look.hasClosedLimiter()) world.reached('limiter_kept');
  if (unit.unit === 'recovery.record') doomJudge(world, unit.host);
  if (STEPS.has(unit.unit)) disturbUpkeep(world, unit);
  for (const write of unit.writes) {
    keepAccount(world, write);
    if (write.write === 'turn.stopping') noteStop(world, write.id, unit.host);
    if (write.write !== 'turn.end') continue;
    judgeStop(world, write.id);
    judgeTakeover(world, write, unit.host);
    judgeInterruption(world, write);
  }
}

/** What an assessment came to hurts most before anybody acts on it. */
function doomJudge(world: World, host: string): void {
  if (world.random.judge.chance(world.options.faults.judgeDies)) world.dies(host);
}

/** Steps of a handover, and pieces of a summary: what comes after them hurts most to lose. */
const STEPS: ReadonlySet<string> = new Set([
  'maintenance.summarise',
  'maintenance.archive-link',
  'maintenance.rotate',
  'maintenance.progress',
  'maintenance.compact',
]);

/** Its host dies between two steps, or an operator restores the store while it waits. */
function disturbUpkeep(world: World, { unit, host, writes }: CommittedUnit): void {
  const { upkeepDies, older } = world.options.faults;
  const isHandover = unit !== 'maintenance.compact' && unit !== 'maintenance.progress';
  const deadly = isHandover && upkeepDies > 0 ? 0.9 : upkeepDies;
  const [dies, restores] = [deadly, older * 0.3].map((odds) => world.random.upkeep.chance(odds));
  const waits = writes.some(
    (write) => write.write === 'operation.save' && write.row.state === 'waiting',
  );
  if (dies === true) world.dies(host);
  else if (restores === true && waits && world.hasFaults && world.options.faults.restores > 0)
    world.restores.now();
}

/** What later judgements ask for. */
function keepAccount(world: World, write: Write): void {
  if (write.write === 'step.finish' && write.row.errorCode === 'context_too_long')
    world.books.requests.recorded(write.row.turnId);
  if (write.write === 'message.bind') world.ledger.bound.add(write.id);
  if (write.write === 'limiter.insert' || write.write === 'limiter.save')
    world.books.calls.limited(write.row);
}

function noteStop(world: World, turnId: string, by: string): void {
  if (!world.runs(turnId)) return;
  const owner = world.notes.turnHosts.get(turnId) ?? '';
  // A host learns of a stop elsewhere at its next tick, and some worlds tick seldom.
  const seldom = by === owner ? 0 : Math.max(0, world.options.tickMs - LIMITS.tickMsShared);
  const due = world.scheduler.elapsed + LIMITS.stopToolsMs + STOP_SLACK + seldom;
  world.notes.stopsDue.set(turnId, due);
  world.doom(owner);
}

/** W-1: what ran when its task was stopped has ended soon after, wherever the stop arrived. */
function judgeStop(world: World, turnId: string): void {
  const { stopsDue } = world.notes;
  const late = world.scheduler.elapsed - (stopsDue.get(turnId) ?? Infinity);
  stopsDue.delete(turnId);
  // Also once the faults have ended: what they held up ends later.
  const { faults } = world.options;
  const isSwift = faults.slow === 0 && faults.diskFull === 0;
  if (isSwift && late > 0)
    world.problems.push(`W-1 ${turnId} ended ${late} ms too late after its stop`);
}

/** on a shared store only a host whose lease ran out loses its turn to another. */
function judgeTakeover(world: World, { id }: TurnEndWrite, host: string): void {
  const isForeign = world.notes.turnHosts.get(id) !== host;
  if (!world.options.shared || !isForeign || !world.isHeld(id)) return;
  world.problems.push(`R-14 ${host} ended ${id}, whose host is alive`);
}

/** E-1: where nothing may cost a turn its host or its lease, every turn comes to its own end. */
function judgeInterruption(world: World, { id, end }: TurnEndWrite): void {
  if (end !== 'interrupted' || world.mayInterrupt) return;
  world.problems.push(`E-1 a passing fault interrupted ${id}`);
}
