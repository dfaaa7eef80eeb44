// One round of a host whose disk fills up under load and has room again: `node test/crash/disk-full.ts --round N`.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ApiProblem } from '../../src/client/client.ts';
import { callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../../src/testing/model-server.ts';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import { startHost, type HostProcess } from './host-process.ts';
import { mountedFolder, type MountedFolder } from './mounts.ts';

/** What fills the disk: what people send, what the model says, what tools give, or something that is not ours. */
const FILLS = ['messages', 'replies', 'results', 'neighbour'] as const;
type Fill = (typeof FILLS)[number];

export interface FullTally {
  readonly rounds: number;
  readonly acked: number;
  /** Messages that were refused because the disk was full. */
  readonly refused: number;
  /** Steps that waited in memory until they could be saved. */
  readonly waited: number;
  /** From room on the disk to a message acknowledged, and to all of them answered. */
  readonly ackMs: number;
  readonly answerMs: number;
}

const LANES = 4;
/** From room on the disk to the first acknowledgement and to the last answer (Y64). */
const RECOVERED_MS = 5_000;
/** What a round may send before its disk has to be full. */
const FILLING_MS = 60_000;

/** So long is it full now and then. */
const LONG_FULL_MS = 20_000;

interface Round {
  readonly mounted: MountedFolder;
  readonly host: HostProcess;
  readonly fill: Fill;
  readonly acked: Map<string, number>;
  refused: number;
  next: number;
  isOver: boolean;
}

/** Fills a disk, holds it full, makes room, and judges what came of it. Throws at the first breach. */
export async function fullRound(seed: number): Promise<FullTally> {
  const random = seededRandom(seed, 'disk-full');
  const fill = FILLS[(seed - 1) % FILLS.length] ?? 'messages';
  const asked = new Map<number, number>();
  const server = await startModelServer((request) => answerOf(request, fill, asked), {
    record: 'none',
  });
  const mounted = mountedFolder('full', `${random.between(1_500, 3_000)}k`);
  let host: HostProcess | undefined;
  try {
    writeFileSync(join(mounted.folder, 'sekisho.yaml'), config(server.url));
    host = await startHost(mounted.folder);
    const round = { mounted, host, fill, acked: new Map(), refused: 0, next: 0, isOver: false };
    const healed = await fillAndHeal(round, random);
    assert.equal(await host.end(), 0);
    const waited = check(round, asked);
    return { rounds: 1, acked: round.acked.size, refused: round.refused, waited, ...healed };
  } finally {
    await host?.kill();
    await server.close();
    mounted.remove();
  }
}

async function fillAndHeal(
  round: Round,
  random: Random,
): Promise<Pick<FullTally, 'ackMs' | 'answerMs'>> {
  // Quick lanes fill a small disk by themselves: what goes again must have been something.
  if (round.fill === 'neighbour')
    writeFileSync(join(round.mounted.data, BALLAST), 'b'.repeat(BALLAST_BYTES));
  const lanes = Array.from({ length: LANES }, (_, lane) => load(round, lane));
  const failed = Promise.all(lanes);
  if (round.fill === 'neighbour') {
    await pause(random.between(50, 800));
    fillUp(round.mounted.data);
  }
  const full = await Promise.race([failed, isFull(round)]);
  assert.equal(full, 'full', 'the disk must have been full');
  // Whoever waits longer and longer between its tries sleeps long when there is room at last.
  await pause(random.chance(0.2) ? LONG_FULL_MS : random.between(200, 3_000));
  await sendUntilRefused(round);
  await sayWhileFull(round);
  round.isOver = true;
  await failed;
  const since = performance.now();
  if (round.fill === 'neighbour') rmSync(join(round.mounted.data, BALLAST));
  else round.mounted.remount('size=64m');
  const lane = await takenSoon(round, since, () => openLane(round, 'after'));
  await takenSoon(round, since, () => send(round, lane, 'room again'));
  const ackMs = performance.now() - since;
  assert.ok(ackMs <= RECOVERED_MS, `acknowledged ${ackMs} ms after there was room`);
  for (const id of round.acked.keys()) await answered(round.host, id, since);
  const answerMs = performance.now() - since;
  while (!(await isReady(round.host))) {
    assert.ok(performance.now() - since <= RECOVERED_MS, 'not ready with room on the disk');
    await pause(50);
  }
  return { ackMs, answerMs };
}

/** A host whose disk is full says so, and lives. */
async function sayWhileFull({ host }: Round): Promise<void> {
  const probe = await fetch(`${host.url}/readyz`);
  assert.deepEqual(
    [probe.status, await probe.json()],
    [503, { status: 'ready', reason: 'disk_full' }],
  );
  const { items } = await host.client.attention();
  assert.ok(
    items.some(({ code }) => code === 'store_disk_full'),
    `${JSON.stringify(items)} must say that the disk is full`,
  );
}

/** What was checkpointed leaves a little room again: whoever goes on sending is refused soon. */
async function sendUntilRefused(round: Round): Promise<void> {
  const id = await refusable(round, () => openLane(round, 'full'));
  if (id === undefined) return;
  for (let sent = 0; sent < 100; sent += 1) {
    const taken = await refusable(round, () => send(round, id, 'z'.repeat(50_000)));
    if (taken === undefined) return;
  }
  assert.fail('a full disk must refuse');
}

async function isFull(round: Round): Promise<'full'> {
  const since = performance.now();
  for (;;) {
    if (!(await isReady(round.host))) return 'full';
    assert.ok(performance.now() - since < FILLING_MS, 'the disk was never full');
    await pause(100);
  }
}

async function isReady({ url }: HostProcess): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).status === 200;
}

async function openLane({ host }: Round, name: string): Promise<string> {
  return (await host.client.openConversation({ channel: 'terminal', address: name })).id;
}

/** One conversation: it sends until the round is over, and goes on when it was refused. */
async function load(round: Round, lane: number): Promise<void> {
  let id: string | undefined;
  while (id === undefined && !round.isOver) {
    id = await refusable(round, () => openLane(round, `lane${lane}`));
    if (id === undefined) await pause(100);
  }
  if (id !== undefined) await sendAlong(round, id);
}

async function sendAlong(round: Round, id: string): Promise<void> {
  const padding = round.fill === 'messages' ? 'x'.repeat(20_000) : '';
  while (!round.isOver) {
    const sent = await refusable(round, () => send(round, id, padding));
    if (sent === undefined) await pause(100);
    else if (round.fill !== 'messages') await answeredOrOver(round, sent);
  }
}

/** Undefined when it was refused for want of room; any other refusal is thrown. */
async function refusable<T>(round: Round, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    assert.deepEqual([error.status, error.code], [507, 'disk_full']);
    round.refused += 1;
    return undefined;
  }
}

async function send(round: Round, conversationId: string, padding: string): Promise<string> {
  round.next += 1;
  const number = round.next;
  const { messageId } = await round.host.client.postMessage(
    conversationId,
    { text: `job ${number}: ${padding}` },
    { idempotencyKey: `job-${number}` },
  );
  round.acked.set(messageId, number);
  return messageId;
}

async function answeredOrOver(round: Round, id: string): Promise<void> {
  while (!round.isOver && (await round.host.client.message(id)).state !== 'done') await pause(50);
}

/** What came with a commit that had begun before there was room may still be refused. */
async function takenSoon<T>(round: Round, since: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const taken = await refusable(round, work);
    if (taken !== undefined) return taken;
    assert.ok(performance.now() - since <= RECOVERED_MS, 'refused with room on the disk');
    await pause(50);
  }
}

async function answered(host: HostProcess, id: string, since: number): Promise<void> {
  for (;;) {
    const { state } = await host.client.message(id);
    if (state === 'done') return;
    const ms = Math.round(performance.now() - since);
    assert.ok(ms <= RECOVERED_MS, `${id} is ${state} after ${ms} ms with room on the disk`);
    await pause(50);
  }
}

const BALLAST = 'ballast';
const BALLAST_BYTES = 1_000_000;

/** Something else on the disk takes what is left of it. */
function fillUp(data: string): void {
  for (const size of [64_000, 4_000, 500]) {
    try {
      for (;;) writeFileSync(join(data, BALLAST), 'b'.repeat(size), { flag: 'a' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
}

function config(url: string): string {
  return [
    'data: ./data',
    'workspace: ./workspace',
    'api: { port: 0 }',
    'recovery: { spacingSeconds: 0.2 }',
    `model: { provider: openai-compatible, baseURL: '${url}', name: scripted, contextWindow: 900000 }`,
    '',
  ].join('\n');
}

function answerOf({ body }: RecordedRequest, fill: Fill, asked: Map<number, number>): ModelAnswer {
  const shape = JSON.stringify(body['response_format'] ?? null);
  if (shape.includes('"verdict"')) return says('{"verdict":"continue","reason":"nothing is lost"}');
  if (shape.includes('"taskId"')) return says('{"taskId":null,"reason":"it is new"}');
  const said = JSON.stringify(body['messages']);
  const number = Number([...said.matchAll(/job (\d+):/g)].at(-1)?.[1] ?? 0);
  if (fill === 'results' && !said.includes(`echo ${number} `))
    return callsTool('command', { command: `echo ${number} >> ledger.txt; seq 1 9000` });
  asked.set(number, (asked.get(number) ?? 0) + 1);
  return says(`done ${number} ${fill === 'replies' ? 'y'.repeat(30_000) : ''}`);
}

/** What the store holds of all that, once the host has ended: how many steps waited for room. */
function check({ acked, mounted, fill }: Round, asked: ReadonlyMap<number, number>): number {
  const db = new DatabaseSync(join(mounted.data, 'sekisho.db'), { readOnly: true });
  try {
    assert.equal(db.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok');
    const words = db.prepare("select text from outbox where kind = 'reply'").all();
    const replies = words.map(({ text }) => Number(/^done (\d+)/.exec(String(text))?.[1]));
    assert.equal(new Set(replies).size, replies.length, 'something was answered twice');
    for (const [id, number] of acked) {
      const message = db.prepare('select answer_id from message where id = ?').get(id);
      assert.ok(message !== undefined, `the acknowledged message ${number} is gone`);
      assert.notEqual(message['answer_id'], null, `message ${number} is not answered`);
    }
    const cut = db.prepare("select count(*) as n from step where state = 'cut'").get()?.['n'];
    const again = [...asked.values()].reduce((all, times) => all + times - 1, 0);
    assert.ok(again <= Number(cut), `${again} requests were made again, ${String(cut)} were cut`);
  } finally {
    db.close();
  }
  if (fill === 'results') checkLedger(mounted.folder);
  return countIn(mounted.data, 'a step waits to be saved');
}

function checkLedger(folder: string): void {
  const lines = readFileSync(join(folder, 'workspace/ledger.txt'), 'utf8').trim().split('\n');
  assert.equal(new Set(lines).size, lines.length, 'a command ran twice');
}

function countIn(data: string, words: string): number {
  const logs = readdirSync(join(data, 'logs')).map((name) =>
    readFileSync(join(data, 'logs', name), 'utf8'),
  );
  return logs.join('').split(words).length - 1;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { round: { type: 'string', default: '1' } } });
  process.stdout.write(`${JSON.stringify(await fullRound(Number(values.round)))}\n`);
}
