// The traced process of the power cuts: two lives of a host over one file. It says on stdout which message was
// acknowledged (ACK), which call runs (RAN), and which message it has seen answered (DONE).
// Started as: power-child.ts FILE SEED COUNT [PRAGMA…].
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, type Random } from '../../src/testing/sim-random.ts';
import { ADMIN } from '../support/host.ts';
import { startPowerHost, type PowerHost } from './power-host.ts';

const LANES = ['lane1', 'lane2', 'lane3'];
const CALLS = ['', '', 'l', 'p', 'nl', 'pn', 'lpn'] as const;

const [path, seed, count, ...pragmas] = process.argv.slice(2);
if (path === undefined) throw new Error('power-child.ts FILE SEED COUNT [PRAGMA…]');
const random = seededRandom(Number(seed), 'power-load');

function tell(word: string, id: string): void {
  writeSync(1, `${word} ${id}\n`);
}

function wordsOf(stream: Random): string {
  return `calls ${stream.pick(CALLS)}: ${'x'.repeat(stream.below(5_000))}`;
}

async function converse(host: PowerHost, address: string, texts: readonly string[]): Promise<void> {
  const { engine, store } = host;
  const opening = { channel: 'terminal', address, principal: ADMIN };
  const conversationId = await engine.openConversation(opening);
  for (const text of texts) {
    const accepted = await engine.acceptMessage({ conversationId, text, principal: ADMIN });
    if (accepted.kind !== 'accepted') throw new Error('a message was refused');
    const { messageId: id } = accepted;
    tell('ACK', id);
    // By turns the next one comes while this one is worked on.
    if (text.length % 2 === 0) continue;
    while ((await store.query('message.byId', { id }))?.state !== 'done') await pause(1);
    tell('DONE', id);
  }
}

async function live(file: string): Promise<void> {
  const host = await startPowerHost({ path: file, pragmas, onRun: (id) => tell('RAN', id) });
  const lanes = LANES.map((address) => {
    const texts = Array.from({ length: Number(count) }, () => wordsOf(random));
    return converse(host, address, texts);
  });
  await Promise.all(lanes);
  await host.stop();
}

await live(path);
await live(path);
