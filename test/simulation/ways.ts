// V8 and V20 at the end of a run: what stands still is left by time, or by each command that its
// notice names, given by whoever the table names; and so everything comes to an end.
import { REASONS, waysOf, type TypedWay } from '../../src/core/notice/reasons.ts';
import type { TaskReason } from '../../src/core/task/moves.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { principalName, type Principal } from '../../src/kernel/principal.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { DAY, HOUR, MINUTE, SECOND, type Millis } from '../../src/kernel/time.ts';
import type { Grant } from '../../src/core/budget/extend.ts';
import { exhaustedForTurn } from '../../src/core/budget/spend.ts';
import type { OrderKind } from './history.ts';
import { isSilent } from './order-forms.ts';
import { nameToPrincipal } from './orders.ts';
import { ADMIN, GUEST, SECOND_ADMIN } from './people.ts';
import { openFences } from './ways-upkeep.ts';
import type { World } from './world.ts';

/** Steps until `done`, or until `deadline` (virtual). */
export type Until = (done: () => boolean, deadline: Millis) => Promise<boolean>;

/** Tasks get so many chances before the rest is stopped. */
const ROUNDS = 4;
const WAIT_MAX = 30 * MINUTE;

export async function takeWaysOut(world: World, until: Until): Promise<void> {
  const isOver = (): boolean => world.isBroken || world.look.tasks().length === 0;
  await openFences(world, until);
  for (let round = 0; round < ROUNDS; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await letTimePass(world, until);
    // oxlint-disable-next-line no-await-in-loop -- what time has brought on may have outgrown a window
    await openFences(world, until);
    // oxlint-disable-next-line no-await-in-loop -- and what stood behind its fence passes now
    await letTimePass(world, until);
    if (isOver()) return;
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    await takeRound(world, until, round);
    // oxlint-disable-next-line no-await-in-loop -- what is said there may outgrow a window anew
    await openFences(world, until);
  }
  await letTimePass(world, until);
  // Granted less than it takes, or asked again: a stop is always a way.
  if (!isOver()) await leaveEach(world, until, true);
  await letTimePass(world, until);
  if (isOver()) return;
  const left = world.look.tasks().map(({ id, state, reason }) => `${id} ${state} ${reason}`);
  world.problems.push(`V20 left over: ${left.join(', ')}`);
}

async function takeRound(world: World, until: Until, round: number): Promise<void> {
  const { shared, tickMs } = world.options;
  if (round === 0) answerUncertain(world);
  if (round === 0) await tryHistory(world, until);
  if (world.look.tasks().some(isSilent)) await repair(world, until);
  // A week is long where somebody looks often.
  const isPatient = !shared && tickMs >= 5 * MINUTE;
  if (isPatient && round === 0) await waitForDays(world, until);
  else await leaveEach(world, until, round === ROUNDS - 1);
}

/** E-2: a word from a person about a call whose outcome is unknown; its task waits on. */
function answerUncertain(world: World): void {
  const { ways: random } = world.random;
  for (const approval of world.look.approvals()) {
    const { state, kind, conversationId, id } = approval;
    if (state !== 'open' || kind !== 'uncertain') continue;
    const decision = random.pick(['approve', 'deny']);
    world.client.type(`/${decision} ${id}`, conversationId, ADMIN);
  }
}

/** B-8 and B-9: who may not wake history, and what an admin wakes of its workers. */
async function tryHistory(world: World, until: Until): Promise<void> {
  const { look, client } = world;
  const held = look.tasks().filter(({ enrollment }) => enrollment === 'held-legacy');
  for (const task of held.slice(0, 1)) client.exactly('resume', task, { principal: GUEST }, '');
  const able = look
    .heldWorkers()
    .filter(({ taskId }) => look.task(taskId ?? '')?.enrollment === 'current');
  for (const worker of able.slice(0, 2)) client.exactly('worker', worker, { principal: ADMIN }, '');
  await until(() => world.isAtRest, world.scheduler.elapsed + HOUR);
}

/** who was parked without a reason gets one, and with it the way out. */
async function repair(world: World, until: Until): Promise<void> {
  world.client.orderHost('repair');
  const { elapsed } = world.scheduler;
  const isRepaired = (): boolean => !world.look.tasks().some(isSilent);
  await until(() => isRepaired() && world.isAtRest, elapsed + 10 * MINUTE);
  if (!isRepaired()) world.problems.push('R-11 the doctor has not repaired what is parked');
}

/** Waits of their own end by themselves: an instant comes, a quota ends, a provider answers. */
async function letTimePass(world: World, until: Until): Promise<void> {
  // What is said meanwhile may outgrow a window: behind its fence no check is made.
  const passing = (): readonly TaskRecord[] =>
    world.look
      .tasks()
      .filter((task) => passesByItself(task) || isAboutToCome(world, task))
      .filter((task) => task.waitKind !== 'assessment' || !isShut(world, task));
  if (passing().length === 0) return;
  const { elapsed } = world.scheduler;
  const instants = passing().map(({ waitUntil }) => waitUntil ?? 0);
  const last = Math.max(...instants, world.look.lastAttemptAt());
  // Who finds a provider out may be answered by another: one more is sent at each look.
  const looks = world.options.tickMs * (passing().length + 2);
  // While safe mode is on nothing goes on by itself: it ends by itself.
  const calm = world.look.isInSafeMode() ? LIMITS.stormCalmMs : 0;
  const most = Math.max(last - world.wall.now(), 0) + WAIT_MAX + looks + calm;
  await until(() => world.isAtRest && passing().length === 0, elapsed + most);
  for (const { id, waitKind } of passing())
    if (!world.isBroken) world.problems.push(`V20 ${id} still waits for ${waitKind}`);
}

/** What comes due in this minute may do so before an order arrives. */
function isAboutToCome(world: World, { state, dueAt }: TaskRecord): boolean {
  return state !== 'active' && dueAt !== null && dueAt <= world.wall.now() + MINUTE;
}

/** Only an admin opens what stands before its conversation. */
function isShut({ look }: World, { conversationId }: TaskRecord): boolean {
  return look.upkeep.conversation(conversationId)?.fence === 'blocked';
}

function passesByItself({ state, waitKind }: TaskRecord): boolean {
  return (
    state === 'waiting' && ['instant', 'quota', 'provider', 'assessment'].includes(waitKind ?? '')
  );
}

/** T-6: a question that nobody answers is looked at after its window. */
async function waitForDays(world: World, until: Until): Promise<void> {
  const asking = (): readonly TaskRecord[] =>
    world.look
      .tasks()
      .filter(({ state, waitKind }) => state === 'waiting' && waitKind === 'answer');
  const waits = new Map(asking().map(({ id, waitUntil }) => [id, waitUntil]));
  if (waits.size === 0) return;
  const { elapsed } = world.scheduler;
  // While a child of the task runs, its window is set once more.
  const stuck = (): readonly TaskRecord[] =>
    asking().filter(({ id, waitUntil }) => waits.get(id) === waitUntil);
  await until(() => stuck().length === 0, elapsed + 7 * DAY + HOUR);
  if (world.isBroken) return;
  for (const { id } of stuck()) world.problems.push(`T-6 ${id} waits for an answer for ever`);
  world.reached('waited_days');
}

interface Given {
  readonly task: TaskRecord;
  readonly way: TypedWay | 'reply' | undefined;
}

async function leaveEach(world: World, until: Until, isLast: boolean): Promise<void> {
  const staying = world.look.tasks().filter((task) => !isAboutToCome(world, task));
  const given = alone(staying.map((task): Given => ({ task, way: wayOf(world, task, isLast) })));
  world.reached('way_out');
  const refusals = given.map((one) => take(world, one));
  const { elapsed } = world.scheduler;
  // What is said meanwhile may outgrow a window: behind its fence nothing moves (M-8).
  const isLeft = (task: TaskRecord): boolean =>
    world.look.task(task.id)?.version !== task.version || isShut(world, task);
  // A provider that named an instant is asked then.
  const most = elapsed + 2 * HOUR + Math.max(0, world.look.lastAttemptAt() - world.wall.now());
  await until(() => world.isAtRest && given.every(({ task }) => isLeft(task)), most);
  if (world.isBroken) return;
  for (const { task, way } of given) {
    const by = typeof way === 'object' ? way.command : 'a reply';
    if (!isLeft(task)) world.problems.push(`V8 ${task.id} ${task.reason} is not left by ${by}`);
  }
  world.problems.push(...refusals.flatMap((refused) => refused() ?? []));
  if (!world.isAtRest) world.problems.push(`V20 no rest after the ways out: ${world.unrest()}`);
  world.judgeRest();
}

/**
 * A fresh session sets aside what waits in its conversation, and history is woken while no turn runs
 * there (B-8): other words are said there afterwards.
 */
function alone(given: readonly Given[]): readonly Given[] {
  const rooms = new Map<string, Given>();
  for (const one of given) {
    const isAlone = typeof one.way === 'object' && ['fresh', 'enrol'].includes(one.way.effect);
    if (isAlone && !rooms.has(one.task.conversationId)) rooms.set(one.task.conversationId, one);
  }
  return given.filter((one) => (rooms.get(one.task.conversationId) ?? one) === one);
}

/** One of the ways that the table names; a stop only where there is no other, or at the last. */
function wayOf(world: World, task: TaskRecord, isLast: boolean): Given['way'] {
  const { ways: random } = world.random;
  const ways = waysOf(task).filter(({ effect }) => effect !== 'pause');
  const isOver = isBound(world, task);
  const others = ways.filter(({ effect }) => effect !== 'stop' && !isOver);
  const mayReply = REASONS[task.reason as TaskReason]?.reply ?? false;
  const [replies, other] = [random.chance(0.4), random.next()];
  if (isLast || (others.length === 0 && !mayReply))
    return ways.find(({ effect }) => effect === 'stop');
  if (mayReply && (others.length === 0 || replies)) return 'reply';
  return others[Math.floor(other * others.length)];
}

/** Bounds that history has met meanwhile leave the stop alone (B-8). */
function isBound(world: World, task: TaskRecord): boolean {
  if (task.enrollment !== 'held-legacy') return false;
  const isPast = (task.deadline ?? Infinity) <= world.wall.now() + MINUTE;
  return isPast || exhaustedForTurn(task) !== undefined;
}

/** Takes the way; tells later whether it was refused. */
function take(world: World, { task, way }: Given): () => string | undefined {
  if (way === undefined) return () => `V8 ${task.id} has no way out`;
  if (way !== 'reply') return give(world, task, way);
  reply(world, task);
  return () => undefined;
}

function reply(world: World, task: TaskRecord): void {
  world.client.reply(task.id, task.conversationId, nameToPrincipal(task.mandatePrincipal));
}

/** Gives the command by its principal, typed as the notice quotes it or over the API; tells later of a refusal. */
function give(world: World, task: TaskRecord, way: TypedWay): () => string | undefined {
  const principal = giverOf(world, task, way);
  const { ways: random } = world.random;
  const kind = kindOf(way);
  if (kind === 'fresh' || random.chance(0.6)) {
    world.client.type(way.command, task.conversationId, principal);
    return () => undefined;
  }
  const id = kind === 'approve' || kind === 'deny' ? (task.waitId ?? '') : task.id;
  const grant = kind === 'extend' ? grantOf(way.command) : undefined;
  return world.client.exactly(kind, { id }, { principal, grant }, way.command);
}

/** The order over the API that a way is. */
function kindOf({ effect, command }: TypedWay): OrderKind | 'fresh' {
  if (effect === 'enrol') return 'resume';
  if (effect !== 'reopen') return effect;
  return command.startsWith('/budget-reset') ? 'reset' : 'resume';
}

function giverOf(world: World, task: TaskRecord, { who, effect }: TypedWay): Principal {
  const own = nameToPrincipal(task.mandatePrincipal);
  const approval = world.look.approvals().find(({ id }) => id === task.waitId);
  const wantsOther = approval?.approver === 'other' && (effect === 'approve' || effect === 'deny');
  if (wantsOther) return principalName(own) === principalName(ADMIN) ? SECOND_ADMIN : ADMIN;
  if (who === 'admin') return ADMIN;
  return who === 'person' ? own : world.random.ways.pick([own, ADMIN]);
}

/** What the notice says has to be granted at least. */
function grantOf(command: string): Grant {
  const amount = (word: string): number =>
    Number(new RegExp(`${word}=\\+([\\d.]+)`).exec(command)?.[1] ?? 0);
  const all = {
    turns: amount('turns'),
    tokens: amount('tokens'),
    costMicroUsd: Math.round(amount('cost') * 1_000_000),
    continuations: amount('continuations'),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0)) as Grant;
}

/** So long is the longest pause between two looks of a world that waits. */
export const REST_MAX = 2 * HOUR + SECOND;
