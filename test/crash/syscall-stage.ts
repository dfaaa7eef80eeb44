// Where a scene is played: each blow falls on a copy of the same folder.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '../../src/client/client.ts';
import { loadConfig } from '../../src/compose/config/load.ts';
import { createHost } from '../../src/compose/host.ts';
import { DAY, SECOND } from '../../src/kernel/time.ts';
import type { ModelServer } from '../../src/testing/model-server.ts';
import { checkStore, type KillTally } from './kill-checks.ts';
import { brokenRows } from './syscall-rows.ts';
import { configure, type Scene, type Seen } from './syscall-scenes.ts';

/** Far more than a loaded machine needs: only a scene that never ends waits this long. */
const LIMIT_MS = 90 * SECOND;

/** A folder as it is where a scene begins, and what was seen until then. */
export interface Base {
  readonly scene: Scene;
  readonly folder: string;
  readonly seen: Seen;
  clear(): void;
}

export async function prepareBase(scene: Scene): Promise<Base> {
  const folder = mkdtempSync(join(tmpdir(), `sekisho-base-`));
  const seen: Seen = { acked: new Map(), asked: new Map() };
  await scene.prepare?.(folder, seen);
  return { scene, folder, seen, clear: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A copy of the base, with a model of its own. */
export interface Stage {
  readonly scene: Scene;
  readonly folder: string;
  readonly seen: Seen;
  readonly server: ModelServer;
}

/** Plays on a copy of the base and removes it. */
export async function onCopy<T>(base: Base, play: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `sekisho-${base.scene.name}-`));
  const seen: Seen = { acked: new Map(base.seen.acked), asked: new Map(base.seen.asked) };
  const server = await base.scene.startModel(seen);
  try {
    cpSync(base.folder, folder, { recursive: true });
    configure(folder, base.scene.config(server.url));
    return await play({ scene: base.scene, folder, seen, server });
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Rejects with `what` when a thing that must end does not. */
export async function within<T>(work: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} does not end`)), LIMIT_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a host again that nobody strikes, plays the scene to its end, and holds the store against what was seen. */
export async function comeToRest(stage: Stage): Promise<KillTally> {
  const { folder, scene, seen } = stage;
  const config = await loadConfig({ cwd: folder, env: {}, use: 'host', flags: {} });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const host = createHost({
    config,
    env: { PATH: process.env['PATH'] },
    logLevel: 'warn',
    showLog: () => true,
    onFailed: (reason) => reject(new Error(`the store failed after all: ${reason}`)),
  });
  const { url } = await host.start();
  try {
    // With the key of before: what it has sent is known by it.
    const client = createClient({
      url,
      key: readFileSync(join(folder, 'data/api-key'), 'utf8').trim(),
    });
    await within(Promise.race([scene.play(client, seen), failed]), 'the host that nobody strikes');
  } finally {
    await host.stop(0);
  }
  const ledger = tally(folder);
  const checked = checkStore(folder, { ...seen, ledger, cycles: 1 });
  checkRest(folder);
  return checked;
}

/** How often each message's command ran. */
function tally(folder: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const line of ledgerOf(folder).split('\n').filter(Boolean))
    counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
  return counts;
}

function ledgerOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'workspace/ledger.txt'), 'utf8');
  } catch {
    return '';
  }
}

/** Nothing is left half done: no turn without an end, no claim, one answer to each message. */
function checkRest(folder: string): void {
  const db = new DatabaseSync(join(folder, 'data/sekisho.db'), { readOnly: true });
  try {
    const all = (sql: string): unknown[] => db.prepare(sql).all();
    assert.deepEqual(all('select id from turn where "end" is null'), []);
    assert.deepEqual(all("select id from step where state = 'started'"), []);
    const genuine = all("select id from message where kind = 'genuine'").length;
    const replies = all("select id from outbox where kind = 'reply'").length;
    assert.equal(replies, genuine, 'each message is answered once');
    assert.deepEqual(brokenRows(db, { deadlineMs: 7 * DAY }), []);
  } finally {
    db.close();
  }
}
