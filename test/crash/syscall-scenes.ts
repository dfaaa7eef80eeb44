// What people do with a host while it is struck. Each scene may be begun again wherever a kill has left it:
// messages carry keys, answers carry receipts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import { says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type Responder,
} from '../../src/testing/model-server.ts';
import type { RecordedRequest } from '../../src/testing/model-server.ts';
import { startHost } from './host-process.ts';
import { answer, jobAsked } from './kill-model.ts';

/** What the outside saw. */
export interface Seen {
  /** Acknowledged messages: their number by their id. */
  readonly acked: Map<string, number>;
  /** How often the model was asked for each step of each message, as `NUMBER:STEP`. */
  readonly asked: Map<string, number>;
}

export interface Scene {
  readonly name: string;
  /** Brings a folder to where the scene begins; none begins with an empty one. */
  prepare?(folder: string, seen: Seen): Promise<void>;
  startModel(seen: Seen): Promise<ModelServer>;
  config(modelUrl: string): readonly string[];
  /** Resolves when everything that was said is answered. */
  play(client: Client, seen: Seen): Promise<void>;
}

const WINDOW = 6_000;
const PADDING = 'and so on '.repeat(250);
/** Messages after which the session of the third scene is about to outgrow its window. */
const SAID_BEFORE = 3;

export function configure(folder: string, lines: readonly string[]): void {
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  writeFileSync(join(folder, 'sekisho.yaml'), `${lines.join('\n')}\n`);
}

function base(url: string, window = 128_000): readonly string[] {
  return [
    'data: ./data',
    'workspace: ./workspace',
    'api: { port: 0 }',
    'recovery: { safeMode: false, spacingSeconds: 0.1 }',
    'maintenance: { startAt: 0.6, firstDelaySeconds: 0.1, maxDelaySeconds: 1 }',
    `model: { provider: openai-compatible, baseURL: '${url}', name: scripted, contextWindow: ${window} }`,
  ];
}

async function roomOf(client: Client): Promise<string> {
  return (await client.openConversation({ channel: 'terminal', address: 'struck' })).id;
}

async function say(client: Client, seen: Seen, number: number, more = ''): Promise<string> {
  const sent = await client.postMessage(
    await roomOf(client),
    { text: `job ${number}: ${more}` },
    { idempotencyKey: `job-${number}` },
  );
  seen.acked.set(sent.messageId, number);
  return sent.messageId;
}

async function answered(
  client: Client,
  id: string,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  while ((await client.message(id)).state !== 'done') {
    await meanwhile?.();
    await pause(20);
  }
}

/** Answers at once, each message with its own words. */
function only(seen: Seen, request: RecordedRequest): ModelAnswer {
  const verdict = '{"verdict":"continue","reason":"nothing is lost"}';
  const shape = JSON.stringify(request.body['response_format'] ?? null);
  if (shape.includes('"verdict"')) return says(verdict);
  const number = jobAsked(request);
  const key = `${number}:answer`;
  seen.asked.set(key, (seen.asked.get(key) ?? 0) + 1);
  return says(`done ${number}`);
}

/** A first start, with the schema made, and one message. */
const START: Scene = {
  name: 'start',
  startModel: (seen) => startModelServer((request) => only(seen, request), { record: 'none' }),
  config: (url) => base(url),
  async play(client, seen) {
    await answered(client, await say(client, seen, 1));
  },
};

/** A turn with three calls, of which a person approves one. */
const APPROVAL: Scene = {
  name: 'approval',
  prepare: (folder, seen) => settled(START, folder, seen),
  startModel: (seen) =>
    startModelServer((request) => answer(request, seen.asked), { record: 'none' }),
  config: (url) => [...base(url), 'tools: { command: { approval: always } }'],
  async play(client, seen) {
    const approve = async (): Promise<void> => {
      const { items } = await client.approvals({ state: 'open' });
      for (const { id } of items.filter(({ kind }) => kind === 'call'))
        await client.answerApproval(id, { decision: 'approve', receiptId: id });
    };
    await answered(client, await say(client, seen, 2), approve);
  },
};

/** A start after a kill in the middle of a turn: its task is assessed and goes on, and its session is handed over. */
const RECOVERY: Scene = {
  name: 'recovery',
  async prepare(folder, seen) {
    const asked = Promise.withResolvers<void>();
    const server = await startSmallModel((request) => {
      const said = only(seen, request);
      if (jobAsked(request) !== SAID_BEFORE + 1) return said;
      asked.resolve();
      return { kind: 'stall' };
    });
    configure(folder, RECOVERY.config(server.url));
    const host = await startHost(folder);
    try {
      for (let number = 1; number <= SAID_BEFORE; number += 1)
        await answered(host.client, await say(host.client, seen, number, PADDING));
      await say(host.client, seen, SAID_BEFORE + 1, PADDING);
      await asked.promise;
    } finally {
      await host.kill();
      await server.close();
    }
  },
  startModel: (seen) => startSmallModel((request) => only(seen, request)),
  config: (url) => base(url, WINDOW),
  async play(client, seen) {
    for (const number of [SAID_BEFORE + 1, SAID_BEFORE + 2])
      await answered(client, await say(client, seen, number, PADDING));
    while ((await client.operations({ state: 'open' })).items.length > 0) await pause(20);
  },
};

function startSmallModel(respond: Responder): Promise<ModelServer> {
  const summary = (): ModelAnswer => says('{"summary":"jobs were done one by one"}');
  return startModelServer(respond, { record: 'none', strict: { window: WINDOW, summary } });
}

/** Plays a scene to its end in a host that nobody strikes. */
async function settled(scene: Scene, folder: string, seen: Seen): Promise<void> {
  const server = await scene.startModel(seen);
  configure(folder, scene.config(server.url));
  const host = await startHost(folder);
  try {
    await scene.play(host.client, seen);
    await host.end();
  } finally {
    await host.kill();
    await server.close();
  }
}

export const SCENES: readonly Scene[] = [START, APPROVAL, RECOVERY];
