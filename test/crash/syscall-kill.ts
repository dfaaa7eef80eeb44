// A host that is struck at one of its calls to the files of its data folder, and what came of it.
import { callsIn, lastCallIn, startTraced, type Blow, type Ended } from './syscall-host.ts';
import { comeToRest, onCopy, within, type Base, type Stage } from './syscall-stage.ts';

/** Plays the scene on a host that `blow` strikes, and ends it when it has come to its end. */
export async function playTraced(stage: Stage, blow: Blow | undefined): Promise<Ended> {
  const host = startTraced(stage.folder, blow);
  try {
    return await within(played(stage, host), 'the struck host');
  } finally {
    await host.clear();
  }
}

async function played(stage: Stage, host: ReturnType<typeof startTraced>): Promise<Ended> {
  const ready = await host.ready;
  if (ready === undefined) return host.ended;
  const over = await Promise.race([
    stage.scene.play(ready.client, stage.seen).then(() => 'played' as const),
    host.ended.then(() => 'ended' as const),
  ]).catch(() => 'broken' as const);
  // Whoever plays loses the connection first and learns then how the host has ended.
  return over === 'played' ? host.end() : host.ended;
}

export interface Killed {
  /** Whether the host has died of it, at that call. */
  readonly fired: boolean;
  readonly last: string;
  readonly interrupted: number;
  readonly assessments: number;
  readonly shortened: number;
}

/** A host does not make exactly as many calls each time: what groups of commits share a write is chance. */
const TRIES = 3;

/** Kills the host at one point, starts it again and checks it. Throws what is broken. */
export async function killAt(base: Base, point: Pick<Blow, 'call' | 'at'>): Promise<Killed> {
  let { at } = point;
  for (let tries = 1; ; tries += 1) {
    const { made, ...killed } = await killOnce(base, { call: point.call, at });
    if (killed.fired || tries === TRIES) return killed;
    at = Math.min(at, made);
  }
}

async function killOnce(
  base: Base,
  { call, at }: Pick<Blow, 'call' | 'at'>,
): Promise<Killed & { readonly made: number }> {
  return onCopy(base, async (stage) => {
    const { signal } = await playTraced(stage, { call, at, fate: 'kill' });
    const made = callsIn(stage.folder)[call];
    const fired = signal === 'SIGKILL' && made === at;
    const last = lastCallIn(stage.folder);
    const { interrupted, assessments, shortened } = await comeToRest(stage);
    return { fired, made, last, interrupted, assessments, shortened };
  });
}
