import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ApiProblem } from '../../src/client/client.ts';
import { startHost, type HostProcess } from './host-process.ts';

const CONFIG =
  'data: ./data\nworkspace: ./workspace\napi: { port: 0 }\nmodel: { provider: rehearsal }\n';
const hasStrace = spawnSync('strace', ['-V']).status === 0;
const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;

function folderWithConfig(folder: string): string {
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  writeFileSync(join(folder, 'sekisho.yaml'), CONFIG);
  return folder;
}

/** Posts until the first refusal; gives what was acknowledged before it, and the refusal. */
async function postUntilRefused(host: HostProcess, text: string, most: number) {
  const { id } = await host.client.openConversation({
    channel: 'terminal',
    address: 'lane',
  });
  const acked: string[] = [];
  for (let index = 0; index < most; index += 1) {
    try {
      acked.push((await host.client.postMessage(id, { text })).messageId);
    } catch (refused) {
      return { acked, refused, conversationId: id };
    }
  }
  return { acked, refused: undefined, conversationId: id };
}

test(
  `G-6 after an input/output error nothing is acknowledged, readyz says why and the host exits with 6${hasStrace ? '' : ' (skipped: strace is not installed)'}`,
  { skip: !hasStrace },
  async () => {
    const folder = folderWithConfig(mkdtempSync(join(tmpdir(), 'sekisho-eio-')));
    let host: HostProcess | undefined;
    try {
      const log = join(folder, 'trace.log');
      const inject = [
        '-e',
        'trace=fsync,fdatasync',
        '-e',
        'inject=fsync,fdatasync:error=EIO:when=40+',
      ];
      // Killing the tracer would leave the host stopped: -D keeps the host the child.
      host = await startHost(folder, ['strace', '-D', '-f', '-o', log, ...inject]);
      const { acked, refused } = await postUntilRefused(host, 'hello there', 500);
      assert.ok(
        refused instanceof ApiProblem,
        `the injected fault must have been met: ${String(refused)} after ${acked.length}`,
      );
      assert.deepEqual([refused.status, refused.code], [503, 'store_failed']);
      assert.match(readFileSync(log, 'utf8'), /EIO.*INJECTED/);
      const probe = await fetch(`${host.url}/readyz`);
      assert.equal(probe.status, 503);
      assert.match(await probe.text(), /store_failed/);
      assert.equal(await host.ended, 6);
      const db = new DatabaseSync(join(folder, 'data/sekisho.db'));
      const known = new Set(
        db
          .prepare('select id from message')
          .all()
          .map((row) => row['id']),
      );
      assert.deepEqual(
        acked.filter((id) => !known.has(id)),
        [],
      );
      db.close();
    } finally {
      await host?.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test(
  `G-6 a full disk refuses new work with 507, keeps what it has and goes on when there is room${canMount ? '' : ' (skipped: mounting needs root)'}`,
  { skip: !canMount },
  async () => {
    const folder = folderWithConfig(mkdtempSync(join(tmpdir(), 'sekisho-full-')));
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=700', 'tmpfs', data]);
    assert.equal(mounted.status, 0, mounted.stderr.toString());
    let host: HostProcess | undefined;
    try {
      host = await startHost(folder);
      const { acked, refused, conversationId } = await postUntilRefused(
        host,
        `keep ${'x'.repeat(50_000)}`,
        500,
      );
      assert.ok(refused instanceof ApiProblem);
      assert.deepEqual([refused.status, refused.code], [507, 'disk_full']);
      spawnSync('mount', ['-o', 'remount,size=64m', data]);
      const again = await host.client.postMessage(conversationId, { text: 'room again' });
      for (const id of [...acked, again.messageId]) {
        assert.equal((await host.client.message(id)).id, id);
      }
      assert.equal(await host.end(), 0);
    } finally {
      await host?.kill();
      spawnSync('umount', [data]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
