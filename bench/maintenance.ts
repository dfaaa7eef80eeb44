import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Client } from '../src/client/client.ts';
import { says } from '../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../src/testing/model-server.ts';
import { CONVERSATION, writeTranscript } from './long-transcript.ts';
import { inFolder, residentOf, round, usedBy, type Figures } from './measure.ts';
import { configure, startHost, type HostProcess } from './process.ts';

const MEGABYTE = 1_000_000;
const GOAL = { stallP99Ms: 20, residentMiB: 200 };
const WAIT_SECONDS = 300;
const OK = says('ok');
/** About what a model writes that is asked for 6,000 characters. */
const SUMMARY = 'It read notes/4711.md, which holds measurements of the week. '.repeat(100);
const SUMMED_UP = says(JSON.stringify({ summary: SUMMARY }));

/**
 * One session of which nothing was ever summarised, as an import may bring it: from the message that meets it
 * to its answer, the whole transcript is summarised. The summary model is a script of this process that
 * answers at once.
 */
export async function benchMaintenance(): Promise<Figures> {
  const small = await maintained(10 * MEGABYTE);
  const large = await maintained(100 * MEGABYTE);
  return { met: isMet(small) && isMet(large), with10MB: small, with100MB: large };
}

function isMet({ stallP99Ms, residentMost }: Maintained): boolean {
  return stallP99Ms <= GOAL.stallP99Ms && residentMost <= GOAL.residentMiB;
}

/** What the upkeep of one transcript took; resident memory in MiB. */
interface Maintained {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly stallP99Ms: number;
  readonly stallMaxMs: number;
  /** Delays that were measured. */
  readonly samples: number;
  /** Before the first message. */
  readonly residentBefore: number;
  readonly residentMost: number;
  readonly residentAfter: number;
  readonly summaryCalls: number;
  /** Characters of the longest of them. */
  readonly longestCall: number;
  /** What there was of operations, and what they came to. */
  readonly operations: string;
}

async function maintained(bytes: number): Promise<Maintained> {
  const calls = { count: 0, longest: 0 };
  const model = await startModelServer((request) => answer(calls, request), { record: 'none' });
  try {
    return await inFolder(async (folder) => {
      mkdirSync(join(folder, 'data'), { mode: 0o700 });
      await writeTranscript(join(folder, 'data/sekisho.db'), bytes);
      configure(folder, { modelUrl: model.url, concurrent: 1 });
      const host = await startHost(folder, true);
      try {
        const found = await measure(host);
        return { ...found, summaryCalls: calls.count, longestCall: calls.longest };
      } finally {
        await host.end();
      }
    });
  } finally {
    await model.close();
  }
}

function answer(
  calls: { count: number; longest: number },
  { text }: RecordedRequest,
): ReturnType<typeof says> {
  if (!text.includes('"response_format"')) return OK;
  calls.count += 1;
  calls.longest = Math.max(calls.longest, text.length);
  return SUMMED_UP;
}

async function measure(
  host: HostProcess,
): Promise<Omit<Maintained, 'summaryCalls' | 'longestCall'>> {
  const client = createClient(host);
  const residentBefore = residentOf(host.pid).now;
  await host.stalls();
  const [began, used] = [performance.now(), usedBy(host.pid)];
  await answered(client);
  const seconds = (performance.now() - began) / 1_000;
  const cpuMs = usedBy(host.pid).cpuMs - used.cpuMs;
  const { p99Ms, maxMs, samples } = await host.stalls();
  const { now, most } = residentOf(host.pid);
  const { items } = await client.operations({ conversation: CONVERSATION });
  return {
    seconds: round(seconds, 2),
    cpuSeconds: round(cpuMs / 1_000, 2),
    stallP99Ms: round(p99Ms, 1),
    stallMaxMs: round(maxMs, 1),
    samples,
    residentBefore,
    residentMost: most,
    residentAfter: now,
    operations: items.map(({ kind, state }) => `${kind} ${state}`).join(', '),
  };
}

/** The run stays open while its conversation is maintained, and is answered then. */
async function answered(client: Client): Promise<void> {
  const body = { input: 'Go on.', conversation: CONVERSATION, wait: WAIT_SECONDS };
  const { status } = await client.createRun(body);
  if (status !== 'completed') throw new Error(`the run is ${status}`);
}
