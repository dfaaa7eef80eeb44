import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiProblem } from '../../src/client/client.ts';
import type { Json } from '../../src/kernel/json.ts';
import { callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import { startHost, type HostProcess } from './host-process.ts';

const LANES = 8;
/** Messages that each lane sends before it waits: the second arrives while the first is worked on. */
const AHEAD = 2;

/** What the outside saw: the only truth that the checks may use besides the store. */
export interface Witness {
  /** Acknowledged messages: their number by their id. */
  readonly acked: ReadonlyMap<string, number>;
  /** How often the model server was asked for each step of each message, as `NUMBER:RESULTS`. */
  readonly asked: ReadonlyMap<string, number>;
  /** How often each message's command ran, from the file that it appends to. */
  readonly ledger: ReadonlyMap<number, number>;
  readonly cycles: number;
}

/** Kills a host under load again and again, then lets it finish what it may. Leaves it running. */
export async function killUnderLoad(
  folder: string,
  cycles: number,
  random: Random,
): Promise<{
  readonly host: HostProcess;
  readonly witness: Witness;
  readonly server: ModelServer;
}> {
  const asked = new Map<string, number>();
  const server = await startModelServer((request) => answer(request, asked), { record: 'none' });
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  const acked = new Map<string, number>();
  let host = await startOn(folder, server.url, 0);
  const lanes = await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const opened = await host.client.openConversation({
        channel: 'terminal',
        address: `lane${lane}`,
      });
      return { id: opened.id, unsure: [] as number[] };
    }),
  );
  const count = { next: 0 };
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const killed = new AbortController();
    const load = lanes.map((lane) => drive(host, lane, { acked, count, signal: killed.signal }));
    await pause(random.between(300, 1800));
    killed.abort();
    await host.kill();
    await Promise.all(load);
    host = await startOn(folder, server.url, cycle + 1);
  }
  await settled(host, [...acked.keys()]);
  const text = readFileSync(join(folder, 'workspace/ledger.txt'), 'utf8');
  return { host, server, witness: { acked, asked, ledger: tally(text), cycles } };
}

/** By turns a message steers the turn before it, or waits unclaimed when the kill comes. */
async function startOn(folder: string, url: string, cycle: number): Promise<HostProcess> {
  const whileBusy = cycle % 2 === 0 ? 'wait' : 'steer';
  writeFileSync(join(folder, 'sekisho.yaml'), config(url, whileBusy));
  return startHost(folder);
}

function config(url: string, whileBusy: string): string {
  return [
    'data: ./data',
    'workspace: ./workspace',
    'api: { port: 0 }',
    `whileBusy: ${whileBusy}`,
    `model: { provider: openai-compatible, baseURL: '${url}', name: scripted }`,
    '',
  ].join('\n');
}

/** Four model calls and three tools for each message, the second of which must never run twice. */
function answer(request: RecordedRequest, asked: Map<string, number>): ModelAnswer {
  const messages = request.body['messages'] as readonly {
    readonly role: string;
    readonly content: Json;
  }[];
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const number = Number(/job (\d+)/.exec(JSON.stringify(messages[last]?.content))?.[1]);
  const results = messages.slice(last).filter(({ role }) => role === 'tool').length;
  const key = `${number}:${results}`;
  asked.set(key, (asked.get(key) ?? 0) + 1);
  if (results === 0)
    return callsTool('write', { path: `job-${number}.txt`, content: String(number) });
  if (results === 1) return callsTool('command', { command: `echo ${number} >> ledger.txt` });
  if (results === 2) return callsTool('read', { path: `job-${number}.txt` });
  return says(`done ${number}`);
}

interface Lane {
  readonly id: string;
  /** Messages whose acknowledgement a kill cut off: sent again with the same key. */
  unsure: number[];
}
interface Load {
  readonly acked: Map<string, number>;
  readonly count: { next: number };
  readonly signal: AbortSignal;
}

async function drive(host: HostProcess, lane: Lane, load: Load): Promise<void> {
  try {
    while (!load.signal.aborted) {
      const ids: string[] = [];
      for (let ahead = 0; ahead < AHEAD; ahead += 1) ids.push(await send(host, lane, load));
      for (const id of ids) await answered(host, id, load.signal);
    }
  } catch (error) {
    if (error instanceof ApiProblem || !load.signal.aborted) throw error;
  }
}

async function send(host: HostProcess, lane: Lane, { acked, count }: Load): Promise<string> {
  const number = lane.unsure.shift() ?? (count.next += 1);
  try {
    const sent = await host.client.postMessage(
      lane.id,
      { text: `job ${number}` },
      { idempotencyKey: `job-${number}` },
    );
    acked.set(sent.messageId, number);
    return sent.messageId;
  } catch (error) {
    lane.unsure.push(number);
    throw error;
  }
}

/** Waits until a message is answered or its task waits; both are ends for this version. */
async function answered(host: HostProcess, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (await isSettled(host, id)) return;
    await pause(50);
  }
}

async function isSettled(host: HostProcess, id: string): Promise<boolean> {
  const message = await host.client.message(id);
  if (message.state === 'done') return true;
  if (message.state === 'unclaimed' || message.taskId === null) return false;
  return (await host.client.task(message.taskId)).state === 'waiting';
}

async function settled(host: HostProcess, ids: readonly string[]): Promise<void> {
  for (const id of ids) await answered(host, id, new AbortController().signal);
}

function tally(text: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
  }
  return counts;
}
