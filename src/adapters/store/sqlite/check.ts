import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import type { StoreCheck } from '../../../ports/store.ts';
import { faultOf } from './errors.ts';

/** Lines that are read; a store that is broken through and through says the same of each page. */
const LINES_MAX = 100;
const CHECK = `pragma quick_check(${LINES_MAX})`;

/** Plain JavaScript: a thread of its own has a file of its own to be found, and this is a line. */
const READER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(workerData.path, { readOnly: true, timeout: 1000 });
  try {
    parentPort.postMessage(db.prepare(workerData.sql).all());
  } finally {
    db.close();
  }
`;

/**
 * Reads the whole file through, in a thread of its own, for it takes seconds for a gigabyte. Rejects with
 * a `StoreFault` when it cannot be opened.
 */
export async function checkFile(path: string): Promise<StoreCheck> {
  const worker = new Worker(READER, { eval: true, workerData: { path, sql: CHECK } });
  try {
    const [rows]: unknown[] = await once(worker, 'message');
    return checkOf(rows as readonly Readonly<Record<string, unknown>>[]);
  } catch (error) {
    throw faultOf(error);
  } finally {
    await worker.terminate();
  }
}

/** The same for a store in memory, which no thread but its own can see. */
export function checkMemory(db: Pick<DatabaseSync, 'prepare'>): StoreCheck {
  return checkOf(db.prepare(CHECK).all());
}

function checkOf(rows: readonly Readonly<Record<string, unknown>>[]): StoreCheck {
  const lines = rows.map((row) => String(Object.values(row)[0]));
  return { depth: 'whole', damage: lines.length === 1 && lines[0] === 'ok' ? [] : lines };
}
