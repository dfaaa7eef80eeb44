/** Milliseconds since the epoch, UTC. The kernel has no clock: an instant is always given. */
export type Instant = number;
/** A length of time in milliseconds. */
export type Millis = number;

export const SECOND: Millis = 1_000;
export const MINUTE: Millis = 60 * SECOND;
export const HOUR: Millis = 60 * MINUTE;
export const DAY: Millis = 24 * HOUR;
