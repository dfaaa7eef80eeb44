// A stub model in a process of its own: it answers at once, or holds every answer back.
import { setTimeout as pause } from 'node:timers/promises';
import { says } from '../src/testing/model-answer.ts';
import { startModelServer } from '../src/testing/model-server.ts';

const OK = says('ok');
/** A conversation that grows is summed up now and then: that is part of what it costs. */
const SUMMED_UP = says(JSON.stringify({ summary: 'hello was said, and ok' }));
const holdsBack = process.argv[2] === 'hold';
/** Longer than any benchmark. */
const HELD_MS = 3_600_000;

const server = await startModelServer(
  async ({ text }) => {
    if (holdsBack) await pause(HELD_MS);
    return text.includes('"response_format"') ? SUMMED_UP : OK;
  },
  { record: 'none' },
);
console.log(server.url);
