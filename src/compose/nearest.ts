import { slips } from '../kernel/nearest.ts';

/** A slip of the fingers changes about this share of a name; further away is another name. */
const FARTHEST_SHARE = 0.4;

// So many letters of a name that was not typed to its end tell which one is meant.
const BEGINNING_MIN = 4;

/** The known name that `given` was most likely meant to be, or undefined when none is near. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  const begun = names.filter((name) => name.toLowerCase().startsWith(given.toLowerCase()));
  if (given.length >= BEGINNING_MIN && begun.length === 1) return begun[0];
  let best: string | undefined;
  let least = Infinity;
  for (const name of names) {
    const distance = slips(given.toLowerCase(), name.toLowerCase());
    if (distance < least) [best, least] = [name, distance];
  }
  const most = best === undefined ? 0 : Math.max(given.length, best.length) * FARTHEST_SHARE;
  return least <= Math.max(1, most) ? best : undefined;
}

/** `; did you mean …?`, or nothing: the end of a sentence about an unknown name. */
export function suggestion(given: string, known: Iterable<string>): string {
  const near = nearest(given, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
