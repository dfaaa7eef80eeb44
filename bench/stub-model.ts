// A stub model in a process of its own: it answers at once, or holds every answer back.
import { setTimeout as pause } from 'node:timers/promises';
import { says } from '../src/testing/model-answer.ts';
import { startModelServer } from '../src/testing/model-server.ts';

const OK = says('ok');
const holdsBack = process.argv[2] === 'hold';
/** Longer than any benchmark. */
const HELD_MS = 3_600_000;

const server = await startModelServer(
  async () => {
    if (holdsBack) await pause(HELD_MS);
    return OK;
  },
  { record: 'none' },
);
console.log(server.url);
