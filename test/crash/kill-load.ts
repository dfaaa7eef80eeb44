import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiProblem } from '../../src/client/client.ts';
import type { ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { OperationReply } from '../../src/wire/maintenance.ts';
import { cutStart, startHost, type HostProcess } from './host-process.ts';
import { answer, summaries } from './kill-model.ts';

const LANES = 8;
/** Messages that each lane sends before it waits: the second arrives while the first is worked on. */
const AHEAD = 2;

/** So small that the session of a lane outgrows it again and again; what each message carries beside its words. */
const WINDOW = 6_000;
const PADDING = 'and so on '.repeat(250);

/** How many of the kills meet a host that only starts: what it finds broken is then found once more. */
const STARTING_SHARE = 0.3;

/** A kill comes after up to so many calls of the model, and then at any point of a call's way. */
const CALLS_MOST = 40;
const KILL_LATE_MS = 100;
/** Everything may wait for its next try. */
const NO_CALL_MS = 5_000;

/** Cycles in one conversation: what a cut task has done stays among what its next turn is shown. */
const ROOM_CYCLES = 3;

/** What the outside saw: the only truth that the checks may use besides the store. */
export interface Witness {
  /** Acknowledged messages: their number by their id. */
  readonly acked: ReadonlyMap<string, number>;
  /** How often the model server was asked for each step of each message, as `NUMBER:STEP`. */
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
  /** Cycles whose kill met a host that only started. */
  readonly cutStarts: number;
}> {
  const asked = new Map<string, number>();
  const strict = { window: WINDOW, summary: summaries(random) };
  const calls = new Calls();
  const respond = (request: RecordedRequest): ModelAnswer => {
    calls.made();
    return answer(request, asked);
  };
  const server = await startModelServer(respond, { record: 'none', strict });
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  const acked = new Map<string, number>();
  const lanes: Lane[] = Array.from({ length: LANES }, () => ({ id: '', unsure: [] }));
  const count = { next: 0 };
  let cutStarts = 0;
  let host = await startOn(folder, server.url, 0);
  for (let cycle = 0, loads = 0; cycle < cycles; cycle += 1) {
    if (loads % ROOM_CYCLES === 0) await openRooms(host, lanes, cycle);
    loads += 1;
    const killed = new AbortController();
    const load = lanes.map((lane) => drive(host, lane, { acked, count, signal: killed.signal }));
    load.push(attend(host, killed.signal));
    // A kill after so many calls meets as much on a machine that is busy as on one that is not.
    await calls.more(random.between(1, CALLS_MOST));
    await pause(random.below(KILL_LATE_MS));
    killed.abort();
    await host.kill();
    await Promise.all(load);
    for (; cycle + 1 < cycles && random.chance(STARTING_SHARE); cycle += 1)
      cutStarts += await killStarting(folder, host.startMs * random.next());
    host = await startOn(folder, server.url, cycle + 1);
  }
  await settled(host, [...acked.keys()]);
  const text = readFileSync(join(folder, 'workspace/ledger.txt'), 'utf8');
  return { host, server, witness: { acked, asked, ledger: tally(text), cycles }, cutStarts };
}

async function killStarting(folder: string, ms: number): Promise<number> {
  return (await cutStart(folder, ms)) ? 1 : 0;
}

/** Each lane goes on in a conversation of its own that is new, once what it has sent is acknowledged. */
async function openRooms(host: HostProcess, lanes: Lane[], cycle: number): Promise<void> {
  for (const [lane, one] of lanes.entries()) {
    if (one.unsure.length > 0) continue;
    const address = `lane${lane}-${cycle}`;
    const opened = await host.client.openConversation({ channel: 'terminal', address });
    one.id = opened.id;
  }
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
    // So many unclean starts are the load, and each interrupted task is assessed soon.
    'recovery: { safeMode: false, spacingSeconds: 0.2 }',
    'maintenance: { startAt: 0.6, firstDelaySeconds: 0.2, maxDelaySeconds: 2 }',
    `model: { provider: openai-compatible, baseURL: '${url}', name: scripted, contextWindow: ${WINDOW} }`,
    '',
  ].join('\n');
}

/** Counts what the model is asked. */
class Calls {
  #count = 0;
  #awaited: { readonly count: number; readonly resolve: () => void } | null = null;

  made(): void {
    this.#count += 1;
    if (this.#awaited !== null && this.#count >= this.#awaited.count) this.#awaited.resolve();
  }

  /** Resolves when so many more were made, or none for long. */
  async more(calls: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited = { count: this.#count + calls, resolve };
    const late = setTimeout(resolve, NO_CALL_MS);
    await promise;
    clearTimeout(late);
    this.#awaited = null;
  }
}

interface Lane {
  /** Its conversation. */
  id: string;
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
      { text: `job ${number}: ${PADDING}` },
      { idempotencyKey: `job-${number}` },
    );
    acked.set(sent.messageId, number);
    return sent.messageId;
  } catch (error) {
    lane.unsure.push(number);
    throw error;
  }
}

/** Waits until a message is answered; whoever attends opens what has used its assessments up. */
async function answered(host: HostProcess, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const stands = await standOf(host, id);
    if (stands === 'answered') return;
    await pause(50);
  }
}

async function standOf(host: HostProcess, id: string): Promise<'answered' | 'open'> {
  const message = await host.client.message(id);
  if (message.taskId === null || message.state !== 'done') return 'open';
  // What its block has answered goes on (V8).
  const task = await host.client.task(message.taskId);
  return task.state === 'completed' ? 'answered' : 'open';
}

/** With nobody killing any more everything is answered; what is blocked after an admin has opened it anew. */
async function settled(host: HostProcess, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    while ((await standOf(host, id)) !== 'answered') {
      await reopenAll(host);
      await pause(50);
    }
  }
  // What makes room in a conversation whose messages are all answered may still wait for its next try.
  while (await isMaintained(host)) await pause(50);
}

async function isMaintained(host: HostProcess): Promise<boolean> {
  await reopenAll(host);
  const open = await Promise.all(
    (['running', 'waiting', 'blocked'] as const).map((state) =>
      host.client.operations({ state, limit: 1 }),
    ),
  );
  return open.some(({ items }) => items.length > 0);
}

/** An admin who looks after what is blocked while the load runs. */
async function attend(host: HostProcess, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) {
      await reopenAll(host);
      await pause(200);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function reopenAll(host: HostProcess): Promise<void> {
  const { items } = await host.client.tasks({ state: 'blocked', limit: 200 });
  for (const { id } of items) await reopen(host, id);
  const blocked = await host.client.operations({ state: 'blocked', limit: 200 });
  for (const operation of blocked.items) await admit(host, operation);
}

/** The way out of a conversation whose upkeep has used its tries up: its record names it, and it is taken. */
async function admit(host: HostProcess, { id, version, commands }: OperationReply): Promise<void> {
  const way = `/admit ${id}`;
  assert.ok(
    commands.some(({ command }) => command === way),
    `the record of ${id} must quote ${way}`,
  );
  const receiptId = `${id} ${version}`;
  await host.client.admit(id, { contractVersion: 1, expectedVersion: version, receiptId });
}

/** The way out of a task that has used its assessments up: `why` names it, and it is taken. */
async function reopen(host: HostProcess, taskId: string): Promise<void> {
  const { commands } = await host.client.why(taskId);
  const way = `/budget-reset ${taskId}`;
  assert.ok(
    commands.some(({ command }) => command === way),
    `why of ${taskId} must quote ${way}`,
  );
  await host.client.resetBudget(taskId);
}

function tally(text: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
  }
  return counts;
}
