// Which piece of a proof strikes at which call.
import { CALLS, callsIn, type Blow } from './syscall-host.ts';
import { playTraced } from './syscall-kill.ts';
import { comeToRest, onCopy, type Base } from './syscall-stage.ts';

/** A call of a scene's host. */
export type Point = Pick<Blow, 'call' | 'at'> & { readonly base: Base };

/** Plays a scene under the tracer alone; gives every call that its host makes, in a fixed order. */
export async function pointsOf(base: Base): Promise<readonly Point[]> {
  return onCopy(base, async (stage) => {
    const ended = await playTraced(stage, undefined);
    if (ended.code !== 0) throw new Error(`the host ended with ${ended.code}: ${ended.stderr}`);
    const calls = callsIn(stage.folder);
    await comeToRest(stage);
    return CALLS.flatMap((call) =>
      Array.from({ length: calls[call] }, (_, index) => ({ base, call, at: index + 1 })),
    );
  });
}

/**
 * The point of each piece. Where there are more points than pieces every call but the commonest is struck at
 * each of its places, and the commonest at as many as are left, evenly apart.
 */
export function pieceOf(points: readonly Point[], count: number, piece: number): Point {
  const rare = points.filter(({ call }) => call !== 'pwrite64');
  const common = points.filter(({ call }) => call === 'pwrite64');
  const place = piece - 1 - rare.length;
  const found =
    place < 0
      ? rare[piece - 1]
      : common[Math.floor((place * common.length) / (count - rare.length))];
  if (found === undefined) throw new RangeError(`there is no piece ${piece} of ${count}`);
  return found;
}

/** Runs numbered pieces, a few at a time: most of each is waiting. */
export async function inLanes(
  lanes: number,
  { from, count }: { readonly from: number; readonly count: number },
  run: (piece: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    for (let piece = next++; piece < from + count; piece = next++) await run(piece);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
