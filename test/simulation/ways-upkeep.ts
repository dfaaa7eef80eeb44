// V8 and V20 of maintenance at the end of a run: each block is left by a command that its notice names, and
// what was kept behind it is answered.
import { waysOfOperation, type TypedOperationWay } from '../../src/core/maintenance/reasons.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import { ADMIN } from './people.ts';
import type { Until } from './ways.ts';
import type { World } from './world.ts';

const ROUNDS = 5;

/** Opens every fence that is blocked, by one of the ways of its operation. */
export async function openFences(world: World, until: Until): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const blocked = blockedIn(world);
    if (blocked.length === 0 || world.isBroken) return;
    // What does not fit, or did not twice, takes a larger window (M-18): somebody mends the cause.
    const isLarge = blocked.some(({ reason }) => reason === 'base_too_large');
    if (isLarge || round > 1) await widen(world, until);
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await leaveEach(world, until, blockedIn(world));
  }
  for (const { id, reason, window } of blockedIn(world))
    if (!world.isBroken)
      world.problems.push(`V20 ${id} is still blocked for ${reason} against ${window}`);
}

function blockedIn(world: World): readonly OperationRecord[] {
  return world.look.upkeep.open().filter(({ state }) => state === 'blocked');
}

async function widen(world: World, until: Until): Promise<void> {
  const { scheduler } = world;
  const isWide = (): boolean => world.configs.widen() && world.isAtRest && world.isUp;
  await until(isWide, scheduler.elapsed + 10 * MINUTE);
}

async function leaveEach(
  world: World,
  until: Until,
  blocked: readonly OperationRecord[],
): Promise<void> {
  const refusals = blocked.map((operation) => leave(world, operation));
  const isLeft = ({ id, version }: OperationRecord): boolean =>
    world.look.upkeep.operation(id)?.version !== version;
  const { elapsed } = world.scheduler;
  // An assessment that waits behind the fence may have an instant that its provider named.
  const most = elapsed + 2 * HOUR + Math.max(0, world.look.lastAttemptAt() - world.wall.now());
  await until(() => world.isAtRest && blocked.every(isLeft), most);
  if (world.isBroken) return;
  for (const operation of blocked)
    if (!isLeft(operation)) world.problems.push(`V8 ${operation.id} is not left by its way out`);
  world.problems.push(...refusals.flatMap((refused) => refused() ?? []));
  if (!world.isAtRest) world.problems.push(`V20 no rest behind a fence: ${world.unrest()}`);
  world.judgeRest();
}

/** Takes a way; tells later whether it was refused. */
function leave(world: World, operation: OperationRecord): () => string | undefined {
  const { ways: random } = world.random;
  const all = waysOfOperation(operation);
  if (all.length === 0) return () => `V8 ${operation.id} is blocked without a way out`;
  const way = random.pick(all);
  world.reached('way_out');
  if (way.effect === 'drop' || random.chance(0.5)) {
    world.client.type(way.command, operation.conversationId, ADMIN);
    return () => undefined;
  }
  return world.client.admit(operation.id, admissionOf(operation, way));
}

function admissionOf(
  { version: expectedVersion }: OperationRecord,
  { effect }: TypedOperationWay,
): { readonly expectedVersion: number; readonly as?: 'handover' } {
  return { expectedVersion, ...(effect === 'handover' ? { as: 'handover' } : {}) };
}
