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
} as const;

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

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BODY = /^[0-9A-HJKMNP-TV-Z]{16}$/;
const ID_BODY_LENGTH = 16;

/**
 * Writes 48 bits of milliseconds and a 32-bit counter as 16 characters that sort like the pair.
 * Throws nothing: the arguments are the id adapter's own, within their bits.
 */
export function idBody(milliseconds: number, counter: number): string {
  let value = BigInt(milliseconds) * 0x1_0000_0000n + BigInt(counter);
  let body = '';
  for (let place = 0; place < ID_BODY_LENGTH; place += 1) {
    body = `${ALPHABET[Number(value & 31n)]}${body}`;
    value >>= 5n;
  }
  return body;
}

/** True when `text` is an id of this kind: its prefix, its length and its alphabet. */
export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  const prefix = ID_PREFIX[kind];
  return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}
