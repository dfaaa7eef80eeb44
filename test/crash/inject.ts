// A host at whose call to the disk an error is put in the place of the call, and what came of it.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiProblem } from '../../src/client/client.ts';
import { SECOND } from '../../src/kernel/time.ts';
import { injectedIn, startTraced, type Blow, type Ended } from './syscall-host.ts';
import { comeToRest, onCopy, within, type Base, type Stage } from './syscall-stage.ts';

/** How long a host with an error that stays is watched once it has met it. */
const WATCHED_MS = 3 * SECOND;
const STORE_FAILED = 6;

export interface Failed {
  readonly fired: boolean;
  /** `stopped`: with the code of a store that failed. `unready`: so before it was ready. `outlived`: went on. */
  readonly came: 'stopped' | 'unready' | 'outlived';
}

/** Lets one call fail, or all from it on; starts the host again without and checks it. Throws what is broken. */
export async function failAt(base: Base, blow: Blow): Promise<Failed> {
  return onCopy(base, async (stage) => {
    const host = startTraced(stage.folder, blow);
    const { ended, came } = await metThenGone(stage, host, blow);
    const fired = injectedIn(stage.folder) > 0;
    judgeEnd(ended, came);
    await comeToRest(stage);
    return { fired, came };
  });
}

type Host = ReturnType<typeof startTraced>;

async function metThenGone(stage: Stage, host: Host, blow: Blow): ReturnType<typeof met> {
  try {
    return await within(met(stage, host, blow), 'the failing host');
  } finally {
    await host.clear();
  }
}

async function met(
  stage: Stage,
  host: Host,
  blow: Blow,
): Promise<{ readonly ended: Ended; readonly came: Failed['came'] }> {
  const ready = await host.ready;
  if (ready === undefined) return { ended: await host.ended, came: 'unready' };
  const over = new AbortController();
  const play = playOn(stage, ready.client, over.signal).then(() => 'played' as const);
  const ended = host.ended.then(() => 'ended' as const);
  const watched = watch(stage, blow, over.signal);
  const first = await Promise.race([play, ended, watched]);
  over.abort();
  play.catch(() => {});
  if (first === 'ended') return { ended: await host.ended, came: 'stopped' };
  const last = await host.end();
  return { ended: last, came: last.code === STORE_FAILED ? 'stopped' : 'outlived' };
}

/** Plays, and again whenever the host says that it has no room or lets go of the connection. */
async function playOn(
  { scene, seen }: Stage,
  client: Parameters<Stage['scene']['play']>[0],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await scene.play(client, seen);
      return;
    } catch (error) {
      if (error instanceof ApiProblem) assert.ok([503, 507].includes(error.status), String(error));
      await pause(100);
    }
  }
}

/** Resolves when an error that stays was met long enough ago; never for one that comes once. */
async function watch(stage: Stage, blow: Blow, signal: AbortSignal): Promise<'watched'> {
  if (blow.onwards !== true) return new Promise(() => {});
  while (!signal.aborted && injectedIn(stage.folder) === 0) await pause(100);
  await pause(WATCHED_MS);
  return 'watched';
}

/** Whoever ends for its store says so in a sentence and by its code, never with a stack. */
function judgeEnd({ code, signal, stderr }: Ended, came: Failed['came']): void {
  assert.equal(signal, null, stderr);
  assert.doesNotMatch(stderr, /^ {4}at /m, 'a fault of the disk is told without a stack');
  if (came === 'outlived') assert.equal(code, 0, stderr);
  else {
    assert.equal(code, STORE_FAILED, stderr);
    assert.match(stderr, /^(?:store_failed|io|read_only|disk_full|corrupt): /m);
  }
}
