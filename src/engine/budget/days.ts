import { ID_PREFIX, idBody } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import { HOUR, readInstant, type Instant } from '../../kernel/time.ts';

/** A day of a reader's calendar, from its midnight to the next. */
export interface Day {
  /** `2026-11-30`. */
  readonly name: string;
  readonly from: Instant;
  readonly to: Instant;
}

/** The lowest id of its kind that was given at this instant or later: ids sort by it. */
export function idAt(kind: 'turn' | 'operation', at: Instant): string {
  return `${ID_PREFIX[kind]}${idBody(at, 0)}`;
}

/** No zone is farther than this from UTC. */
const FARTHEST = 15 * HOUR;

/** The last `count` days of a zone, newest first and that of `now` among them. */
export function lastDays(count: number, now: Instant, timeZone: string): readonly Day[] {
  const names = namesOf(timeZone);
  const days: Day[] = [];
  let name = names(now);
  let to = beginOf(names, names(beginOf(names, name) + 36 * HOUR));
  while (days.length < count) {
    const from = beginOf(names, name);
    days.push({ name, from, to });
    name = names(from - 1);
    to = from;
  }
  return days;
}

function namesOf(timeZone: string): (at: Instant) => string {
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit', timeZone } as const;
  const format = new Intl.DateTimeFormat('en-CA', parts);
  return (at) => format.format(at);
}

/** The first instant of a day: a zone's clock may skip its midnight, so it is searched for. */
function beginOf(names: (at: Instant) => string, day: string): Instant {
  const utc = readInstant(`${day}T00:00:00Z`);
  invariant(utc !== undefined, `${day} is a day`);
  let before = utc - FARTHEST;
  let first = utc + FARTHEST;
  while (first - before > 1) {
    const middle = Math.floor((first + before) / 2);
    if (names(middle) < day) before = middle;
    else first = middle;
  }
  return first;
}
