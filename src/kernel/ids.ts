/** Ids: a prefix that says what it names and 16 characters of Crockford base32 (surface.md). */

export const ID_PREFIX = {
  task: 'task_',
  run: 'run_',
  conversation: 'conv_',
  session: 'sess_',
  message: 'msg_',
  outbox: 'out_',
  event: 'evt_',
  turn: 'turn_',
  host: 'host_',
  operation: 'mop_',
  execution: 'exec_',
  job: 'job_',
  approval: 'appr_',
  receipt: 'rcpt_',
  /** One run of the historical boundary, one storm of crashes, one restart report. */
  boundary: 'bnd_',
  storm: 'storm_',
  report: 'rep_',
} as const;

/** Above every id in the order of lists, which go down from it. */
export const ABOVE_ALL_IDS = '~';

export type IdKind = keyof typeof ID_PREFIX;
export type Id<K extends IdKind> = `${(typeof ID_PREFIX)[K]}${string}`;
export type TaskId = Id<'task'>;
export type RunId = Id<'run'>;
export type ConversationId = Id<'conversation'>;
export type SessionId = Id<'session'>;
export type MessageId = Id<'message'>;
export type OutboxId = Id<'outbox'>;
export type TurnId = Id<'turn'>;
export type HostId = Id<'host'>;
export type ApprovalId = Id<'approval'>;
export type OperationId = Id<'operation'>;
export type ExecutionId = Id<'execution'>;
export type BoundaryId = Id<'boundary'>;
export type StormId = Id<'storm'>;
export type ReportId = Id<'report'>;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BODY = /^[0-9A-HJKMNP-TV-Z]{16}$/;

/**
 * Writes 48 bits of milliseconds and a 32-bit counter as 16 characters that sort like the pair.
 * Throws nothing: the arguments are the id adapter's own, within their bits.
 */
export function idBody(milliseconds: number, counter: number): string {
  // 80 bits, of which the place between the two numbers takes 3 of one and 2 of the other. Whole
  // numbers of this size fit a double: each id is made without a BigInt.
  const high = Math.floor(milliseconds / 8);
  const middle = (milliseconds % 8) * 4 + Math.floor(counter / 2 ** 30);
  return digits(high, 9) + digits(middle, 1) + digits(counter % 2 ** 30, 6);
}

/** The milliseconds that `idBody` wrote into an id; undefined for a text that is no id of this kind. */
export function idInstant(kind: IdKind, text: string): number | undefined {
  if (!isId(kind, text)) return undefined;
  const body = text.slice(ID_PREFIX[kind].length);
  const digitsOf = Array.from(body.slice(0, 10), (digit) => ALPHABET.indexOf(digit));
  const high = digitsOf.slice(0, 9).reduce((sum, digit) => sum * 32 + digit, 0);
  return high * 8 + Math.floor((digitsOf[9] ?? 0) / 4);
}

/** The lowest `count` digits of a whole number. */
function digits(value: number, count: number): string {
  let text = '';
  let rest = value;
  for (let place = 0; place < count; place += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** True when `text` is an id of this kind: its prefix, its length and its alphabet. */
export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  const prefix = ID_PREFIX[kind];
  return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}
