// Stops one of two hosts beyond its lease while it works and lets it go on once the other has taken over:
// what it then wants to write is refused.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import type { KillTally } from './kill-checks.ts';
import { checkShared } from './postgres-checks.ts';
import { Load } from './postgres-load.ts';
import { Pair, type AskedKind, type Place } from './postgres-pair.ts';
import { withServer, type OwnServer } from './postgres-server.ts';

/** In what the host is stopped: a call of its turn, of an assessment, of a summary, or in whatever it does. */
export type FreezeKind = AskedKind | 'anything';
const KINDS: readonly FreezeKind[] = ['turn', 'summary', 'assessment', 'anything'];

export function freezeOf(piece: number): FreezeKind {
  return KINDS[piece % KINDS.length] ?? 'turn';
}

export interface FreezeTally extends KillTally {
  readonly frozen: number;
  /** Turns, summaries and assessments that the other host took over, and what the stopped one was refused. */
  readonly turnsTaken: number;
  readonly turnsRefused: number;
  readonly summariesRefused: number;
  readonly assessmentsRefused: number;
}

/** Freezes hosts one after another, checks everything and gives the figures. Throws at the first breach. */
export async function freezeHosts(
  kinds: readonly FreezeKind[],
  seed: number,
): Promise<FreezeTally> {
  return withServer([], async (server) => {
    const random = seededRandom(seed, 'freeze');
    const trap = new Trap();
    const pair = await Pair.start({
      storeUrl: server.url,
      random,
      onAsked: (place, kind) => trap.asked(place, kind),
    });
    try {
      const load = new Load(pair, random);
      load.begin();
      const sums = { turnsTaken: 0, turnsRefused: 0, summariesRefused: 0, assessmentsRefused: 0 };
      for (const kind of kinds) {
        const frozen = await freeze({ server, pair, trap, random }, kind);
        sums.turnsTaken += frozen.turnsTaken;
        sums.turnsRefused += frozen.turnsRefused;
        sums.summariesRefused += frozen.summariesRefused;
        sums.assessmentsRefused += frozen.assessmentsRefused;
      }
      await load.settle();
      await pair.end();
      const { asked, ledger } = pair;
      const cycles = kinds.length;
      const witness = { acked: load.acked, asked, ledger, cycles };
      return { ...(await checkShared(server.url, witness)), ...sums, frozen: cycles };
    } finally {
      trap.release();
      await pair.close();
    }
  });
}

interface Scene {
  readonly server: OwnServer;
  readonly pair: Pair;
  readonly trap: Trap;
  readonly random: Random;
}

type Frozen = Pick<
  FreezeTally,
  'turnsTaken' | 'turnsRefused' | 'summariesRefused' | 'assessmentsRefused'
>;

const TURN = 'a turn was taken over';
const SUMMARY = 'a maintenance step was taken over';
const ASSESSMENT = 'a recovery assessment was taken over';
const TRIES = 6;
const TRAP_WAIT_MS = 20_000;

async function freeze(scene: Scene, kind: FreezeKind): Promise<Frozen> {
  const { server, pair, trap, random } = scene;
  await pause(random.between(200, 1_500));
  const place: Place = random.chance(0.5) ? 0 : 1;
  const other: Place = place === 0 ? 1 : 0;
  const { pid, client } = pair.at(place);
  const { hostId } = await client.status();
  const before = refusals(pair, place);
  const takenBefore = await turnsTaken(server, hostId);
  await stopIn(scene, { place, other, kind, pid });
  try {
    await takenOver(server, hostId, kind);
  } finally {
    trap.release();
  }
  const taken = (await turnsTaken(server, hostId)) - takenBefore;
  // It wakes, hears what was answered meanwhile, and finds that nothing of it is its own any more.
  const after = await until(`what ${hostId} was refused`, async () => {
    const now = minus(refusals(pair, place), before);
    return Promise.resolve(now.turnsRefused >= taken && isRefused(now, kind) ? now : undefined);
  });
  assert.equal(after.turnsRefused, taken, 'what was tried by the stopped host was refused');
  return { ...after, turnsTaken: taken };
}

async function stopIn(
  { server, pair, trap, random }: Scene,
  order: {
    readonly place: Place;
    readonly other: Place;
    readonly kind: FreezeKind;
    readonly pid: number;
  },
): Promise<void> {
  const { place, other, kind, pid } = order;
  if (kind === 'anything') {
    await pause(random.between(0, 1_000));
    trap.stop(pid);
    return;
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (kind === 'assessment') await works(server, pair, other);
    const stopped = trap.set({ place, kind, pid });
    // What the other leaves behind is assessed by the one that is to be stopped.
    if (kind === 'assessment') await pair.kill(other);
    const hasStopped = await Promise.race([stopped.then(() => true), pause(TRAP_WAIT_MS, false)]);
    if (kind === 'assessment') await pair.start(other);
    if (hasStopped) return;
    trap.release();
  }
  throw new Error(`no ${kind} was met in ${TRIES} tries: ${await openWork(server)}`);
}

/** Resolves when the host has a turn: one that it only tries to claim leaves nothing behind. */
async function works(server: OwnServer, pair: Pair, place: Place): Promise<void> {
  const { hostId } = await pair.at(place).client.status();
  await until(`a turn of host ${place}`, async () => {
    const [turn] = await server.ask(
      `select id from turn where host_id = '${hostId}' and ended_at is null limit 1`,
    );
    return turn;
  });
}

async function openWork(server: OwnServer): Promise<string> {
  const rows = await server.ask(`select task.id, task.state, wait_kind, recovery_outcome, fence,
      turn.host_id, turn.state as turn from task
    join conversation on conversation.id = task.conversation_id
    left join turn on turn.id = conversation.turn_id where task.ended_at is null`);
  return JSON.stringify(rows);
}

/** Resolves when the lease of the stopped host has run out and the other has taken over what it had. */
async function takenOver(server: OwnServer, hostId: string, kind: FreezeKind): Promise<void> {
  await until(`the takeover of ${hostId}`, async () => {
    const [found] = await server.ask<{ left: number }>(`select (
      (select count(*) from turn where host_id = '${hostId}' and ended_at is null)
      + (select count(*) from operation where host_id = '${hostId}' and attempt_at is not null)
      + (select count(*) from host where id = '${hostId}'
        and alive_until > extract(epoch from clock_timestamp()) * 1000)
      ${kind === 'assessment' ? `+ (${assessmentsOut(hostId)})` : ''})::int as left`);
    return found?.left === 0 ? true : undefined;
  });
}

/** Its newest assessment, unless the other host has written of that task since. */
function assessmentsOut(hostId: string): string {
  return `select count(*) from (select task_id, conversation_id, seq from event
      where type = 'assessment.reserved' and by like '%${hostId}' order by at desc limit 1) as mine
    where not exists (select 1 from event as later where later.task_id = mine.task_id
      and later.conversation_id = mine.conversation_id and later.seq > mine.seq
      and later.type = 'assessment.reserved' and later.by not like '%${hostId}')`;
}

async function turnsTaken(server: OwnServer, hostId: string): Promise<number> {
  const [found] = await server.ask<{ taken: number }>(`select count(*)::int as taken from event
    join turn on turn.id = event.turn_id where event.type = 'turn.ended'
    and turn.host_id = '${hostId}' and event.by not like '%${hostId}'`);
  return found?.taken ?? 0;
}

function refusals(pair: Pair, place: Place): Omit<Frozen, 'turnsTaken'> {
  return {
    turnsRefused: pair.logged(place, TURN),
    summariesRefused: pair.logged(place, SUMMARY),
    assessmentsRefused: pair.logged(place, ASSESSMENT),
  };
}

function minus(
  now: Omit<Frozen, 'turnsTaken'>,
  before: Omit<Frozen, 'turnsTaken'>,
): Omit<Frozen, 'turnsTaken'> {
  return {
    turnsRefused: now.turnsRefused - before.turnsRefused,
    summariesRefused: now.summariesRefused - before.summariesRefused,
    assessmentsRefused: now.assessmentsRefused - before.assessmentsRefused,
  };
}

function isRefused(now: Omit<Frozen, 'turnsTaken'>, kind: FreezeKind): boolean {
  if (kind === 'turn') return now.turnsRefused > 0;
  if (kind === 'summary') return now.summariesRefused > 0;
  return kind === 'anything' || now.assessmentsRefused > 0;
}

const UNTIL_MS = 60_000;

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + UNTIL_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await pause(100);
  }
}

/** Stops a process at the very moment at which it waits for a certain answer. */
class Trap {
  #set:
    | {
        readonly place: Place;
        readonly kind: AskedKind;
        readonly pid: number;
        readonly done: () => void;
      }
    | undefined;
  #stopped: number | undefined;

  set(order: {
    readonly place: Place;
    readonly kind: AskedKind;
    readonly pid: number;
  }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#set = { ...order, done: resolve };
    return promise;
  }

  asked(place: Place, kind: AskedKind): void {
    const set = this.#set;
    if (set === undefined || set.place !== place || set.kind !== kind) return;
    this.#set = undefined;
    this.stop(set.pid);
    set.done();
  }

  stop(pid: number): void {
    process.kill(pid, 'SIGSTOP');
    this.#stopped = pid;
  }

  /** Lets go on what it has stopped. */
  release(): void {
    this.#set = undefined;
    if (this.#stopped !== undefined) process.kill(this.#stopped, 'SIGCONT');
    this.#stopped = undefined;
  }
}
