// One start on a disk that is mounted read-only: `node test/crash/read-only.ts --round N`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { EXIT } from '../../src/cli/exit.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { startHost, startRefused, type HostProcess } from './host-process.ts';
import { mountedFolder, type MountedFolder } from './mounts.ts';

/** What is there when the host starts: nothing, what was stopped, and what was killed with its log not copied. */
const BEFORE = ['fresh', 'stopped', 'killed'] as const;

const CONFIG =
  'data: ./data\nworkspace: ./workspace\napi: { port: 0 }\nmodel: { provider: rehearsal }\n' +
  'recovery: { spacingSeconds: 0.2 }\n';

export interface ReadOnlyTally {
  readonly refused: number;
  readonly acked: number;
}

/** The start is refused with its reason and changes nothing; on a disk that may be written it goes on. */
export async function readOnlyRound(seed: number): Promise<ReadOnlyTally> {
  const before = BEFORE[(seed - 1) % BEFORE.length] ?? 'fresh';
  const mounted = mountedFolder('ro', '16m');
  let host: HostProcess | undefined;
  try {
    writeFileSync(join(mounted.folder, 'sekisho.yaml'), CONFIG);
    const acked = before === 'fresh' ? [] : await workOn(mounted, before, seed);
    mounted.remount('ro');
    await refused(mounted);
    mounted.remount('rw');
    host = await startHost(mounted.folder);
    await allAnswered(host, acked);
    assert.equal(await host.end(), 0);
    return { refused: 1, acked: acked.length };
  } finally {
    await host?.kill();
    mounted.remove();
  }
}

/** Gives what was acknowledged before the host ended. */
async function workOn(
  { folder }: MountedFolder,
  before: 'stopped' | 'killed',
  seed: number,
): Promise<readonly string[]> {
  const random = seededRandom(seed, 'read-only');
  const host = await startHost(folder);
  const { id } = await host.client.openConversation({ channel: 'terminal', address: 'lane' });
  const acked: string[] = [];
  for (let sent = random.between(1, 6); sent > 0; sent -= 1)
    acked.push((await host.client.postMessage(id, { text: `hello ${sent}` })).messageId);
  await pause(random.below(100));
  if (before === 'killed') await host.kill();
  else assert.equal(await host.end(), 0);
  return acked;
}

async function refused({ folder, data }: MountedFolder): Promise<void> {
  const held = digestsOf(data);
  const { code, printed } = await startRefused(folder);
  assert.equal(code, EXIT.store, printed);
  assert.match(printed, /^read_only: .*\bread-only\b.*\.$/m);
  assert.ok(printed.includes(data), `${printed} must name the folder`);
  assert.deepEqual(digestsOf(data), held);
}

function digestsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  const paths = files.map((name) => [name, join(folder, name)] as const);
  return Object.fromEntries(
    paths
      .filter(([, path]) => statSync(path).isFile())
      .map(([name, path]) => [name, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

async function allAnswered(host: HostProcess, acked: readonly string[]): Promise<void> {
  for (const id of acked) {
    const since = performance.now();
    while ((await host.client.message(id)).state !== 'done') {
      assert.ok(performance.now() - since < 30_000, `${id} is not answered`);
      await pause(50);
    }
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { round: { type: 'string', default: '1' } } });
  process.stdout.write(`${JSON.stringify(await readOnlyRound(Number(values.round)))}\n`);
}
