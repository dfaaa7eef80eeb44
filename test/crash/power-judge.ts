// Opens what a power cut has left, as a restarted host would, and holds it against what the outside knew.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import type { Image } from './power-disk.ts';
import { startPowerHost } from './power-host.ts';
import { OPTIONS } from '../support/host.ts';
import { brokenRows } from './syscall-rows.ts';

/** Of the store, within the folder of an image. */
export const STORE = 'data/store.db';

export interface Judged {
  /** What was said and is not there: `ACK msg_…` and the like. */
  readonly lost: readonly string[];
  readonly corrupt: boolean;
  /** Rules that rows break. */
  readonly broken: readonly string[];
}

/** Writes an image as files. */
export function restoreImage(folder: string, image: Image): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, bytes] of image.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  mkdirSync(dirname(join(folder, STORE)), { recursive: true });
}

/** Whether what was said holds, in the words of the store. */
const PROOFS: Readonly<Record<string, string>> = {
  ACK: 'select 1 from message where id = ?',
  RAN: "select 1 from step where id = ? and kind = 'tool'",
  DONE: "select 1 from message m join outbox o on o.id = m.answer_id where m.id = ? and m.state = 'done'",
};

/** The files must have been written. */
export function judgeImage(folder: string, { said }: Image): Judged {
  const all = [...said].flatMap(([word, ids]) => ids.map((id) => ({ word, id })));
  const none = all.map(({ word, id }) => `${word} ${id}`);
  const db = new DatabaseSync(join(folder, STORE));
  try {
    const corrupt = db.prepare('pragma integrity_check').get()?.['integrity_check'] !== 'ok';
    const migrated = "select 1 from sqlite_schema where name = 'operation'";
    if (db.prepare(migrated).get() === undefined) return { lost: none, corrupt, broken: [] };
    const proofs = new Map(Object.entries(PROOFS).map(([word, sql]) => [word, db.prepare(sql)]));
    const lost = all.filter(({ word, id }) => proofs.get(word)?.get(id) === undefined);
    return {
      lost: lost.map(({ word, id }) => `${word} ${id}`),
      corrupt,
      broken: brokenRows(db, { deadlineMs: OPTIONS.deadlineMs }),
    };
  } catch (error) {
    return { lost: none, corrupt: true, broken: [String(error)] };
  } finally {
    db.close();
  }
}

/** Far more than a loaded machine needs. */
const REST_MS = 60_000;

/** Starts a host on an image and waits until everything that it holds is answered; gives what is broken then. */
export async function reviveImage(folder: string): Promise<readonly string[]> {
  const ran: string[] = [];
  const path = join(folder, STORE);
  const host = await startPowerHost({ path, pragmas: [], onRun: (id) => ran.push(id) });
  const last = performance.now() + REST_MS;
  while ((await host.store.inspect(OPEN)).length > 0) {
    if (performance.now() > last) return ['what an image holds is never answered'];
    await pause(2);
  }
  await host.stop();
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const all = (sql: string): readonly unknown[] => db.prepare(sql).all();
    const open = all("select id from message where state <> 'done'");
    return [
      ...brokenRows(db, { deadlineMs: OPTIONS.deadlineMs }),
      ...open.map((row) => `V2 ${JSON.stringify(row)} is not answered`),
    ];
  } finally {
    db.close();
  }
}

/** Messages and tasks that are not at their end. */
const OPEN = `select id from message where state <> 'done'
  union all select id from task where state not in ('completed', 'failed', 'stopped', 'cancelled', 'expired')`;
