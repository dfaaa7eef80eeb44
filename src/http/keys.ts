import { hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { Fault } from '../kernel/fault.ts';
import { principalName, type Principal } from '../kernel/principal.ts';
import { SECOND } from '../kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

export const SCOPES = ['run', 'read', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** A key as configured; `secret` is held only until the ring has its hash. */
export interface KeyGrant {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly secret: string;
}

/** Who a verified key is, and what it may do. `admin` implies the other scopes. */
export interface Identity {
  readonly principal: Principal;
  /** `principalName`, as records hold it. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

export interface KeyRingParts {
  readonly grants: readonly KeyGrant[];
  /** The file of a generated key, or undefined when only configured keys count. */
  readonly keyFile?: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface HeldKey {
  readonly hash: Buffer;
  readonly identity: Identity;
}

/** The name of the generated key in records and logs. */
const FILE_KEY_NAME = 'local';
const KEY_BYTES = 32;
/** Shorter secrets can be guessed; they work, and each start says so. */
const SECRET_CHARS_GOOD = 32;

/**
 * The keys that open the door: hashed, compared in constant time, changed without a restart.
 * The generated key's file is looked at again at most once a second.
 */
export class KeyRing {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #keyFile: string | undefined;
  #configured: readonly HeldKey[] = [];
  #fromFile: HeldKey | undefined;
  #fileStamp: string;
  #lookedAt: number;

  /** Throws a `Fault` when a key is blank or used twice, or when the key file cannot be read. */
  constructor({ grants, keyFile, clock, log }: KeyRingParts) {
    this.#clock = clock;
    this.#log = log;
    this.#keyFile = keyFile;
    this.replace(grants);
    if (keyFile !== undefined) this.#fromFile = readKeyFile(keyFile);
    this.#fileStamp = this.#stamp();
    this.#lookedAt = clock.now();
  }

  /** Puts the configured keys in place of the former ones, all at once. */
  replace(grants: readonly KeyGrant[]): void {
    const held = grants.map(hold);
    const names = new Set(grants.map(({ name }) => name));
    const hashes = new Set(held.map(({ hash }) => hash.toString('hex')));
    if (names.size < grants.length) throw badKey('two keys have the same name');
    if (hashes.size < grants.length) throw badKey('two keys have the same secret');
    for (const { name, secret } of grants) {
      if (secret.length < SECRET_CHARS_GOOD) this.#log.warn('this key is short', { key: name });
    }
    this.#configured = held;
  }

  /** Who this secret belongs to. Every key is compared, so that time tells nothing of which one fits. */
  verify(secret: string): Identity | undefined {
    this.#lookAgain();
    const hash = sha256(secret);
    let found: Identity | undefined;
    for (const held of this.#configured) {
      if (timingSafeEqual(held.hash, hash)) found = held.identity;
    }
    if (this.#fromFile !== undefined && timingSafeEqual(this.#fromFile.hash, hash)) {
      found ??= this.#fromFile.identity;
    }
    return found;
  }

  #lookAgain(): void {
    const now = this.#clock.now();
    if (this.#keyFile === undefined || Math.abs(now - this.#lookedAt) < SECOND) return;
    this.#lookedAt = now;
    const stamp = this.#stamp();
    if (stamp === this.#fileStamp) return;
    this.#fileStamp = stamp;
    try {
      this.#fromFile = readKeyFile(this.#keyFile);
      this.#log.info('the key file was read again');
    } catch {
      // A file that is gone or blank opens nothing: the old key must not outlive its file.
      this.#fromFile = undefined;
      this.#log.warn('the key file cannot be read; its key no longer opens anything');
    }
  }

  #stamp(): string {
    try {
      const { mtimeMs, size, ino } = statSync(this.#keyFile ?? '');
      return `${mtimeMs} ${size} ${ino}`;
    } catch {
      return 'absent';
    }
  }
}

/**
 * Makes the generated key unless it is there, and closes the file to others when it is open to them.
 * Gives true when a looser state was mended. Throws what the disk throws.
 */
export function ensureKeyFile(path: string): boolean {
  // A key that is blank was never anybody's: whoever made it was cut short.
  if (!holdsKey(path)) putKeyFile(path);
  const isLoose = (statSync(path).mode & 0o077) !== 0;
  if (isLoose) chmodSync(path, 0o600);
  return isLoose;
}

/** Puts a new key in the place of whatever is there, whole or not at all: a start may end at any call. */
export function putKeyFile(path: string): void {
  writeFileSync(`${path}.new`, `${newSecret()}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}

function holdsKey(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && readFileSync(path, 'utf8').trim() !== '';
}

export function newSecret(): string {
  return `sk_${randomBytes(KEY_BYTES).toString('base64url')}`;
}

function readKeyFile(path: string): HeldKey {
  const secret = readFileSync(path, 'utf8').trim();
  return hold({ name: FILE_KEY_NAME, scopes: SCOPES, secret });
}

function hold({ name, scopes, secret }: KeyGrant): HeldKey {
  if (secret.trim() === '') throw badKey(`the key ${name} is blank`);
  const isAdmin = scopes.includes('admin');
  const principal: Principal = { kind: 'key', id: name, isAdmin };
  const granted = new Set<Scope>(isAdmin ? SCOPES : scopes);
  const identity = { principal, name: principalName(principal), scopes: granted };
  return { hash: sha256(secret), identity };
}

function sha256(text: string): Buffer {
  return digest('sha256', text, 'buffer');
}

function badKey(why: string): Fault {
  return new Fault('bad_key', 'stop', why);
}
