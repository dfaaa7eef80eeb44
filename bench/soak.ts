import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fails, says } from '../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../src/testing/model-server.ts';
import { Connection } from './connection.ts';
import { inFolder, median, residentOf, round, type Figures } from './measure.ts';
import { configure, startHost, type HostProcess } from './process.ts';

const LANES = 8;
const CHAOS_EACH_MS = 20_000;
const SAMPLE_EACH_MS = 2_500;
/** A host is judged once it has done some work. */
const GROWN_UP_MS = 5_000;
const TROUBLE_MS = 8_000;
const STOPPED_MS = 3_000;
const SLOW_MS = 2_000;
const WAIT_SECONDS = 20;
const AGAIN_MS = 200;
const MOST = { walMiB: 64, residentMiB: 200 };
/** How much more the last third of the time may have than the first. */
const MORE = { handles: 3, residentMiB: 10 };
const MEBIBYTE = 1_048_576;

const CHAOS = ['kill', 'outage', 'stop', 'slow', 'freeze'] as const;
type Chaos = (typeof CHAOS)[number];

interface Sample {
  /** Since the soak began. */
  readonly minute: number;
  readonly residentMiB: number;
  readonly handles: number;
  readonly walMiB: number;
}

/** A host under load that is killed, stopped and frozen, and whose provider fails and dawdles, in turn. */
export async function benchSoak(minutes: number): Promise<Figures> {
  return inFolder(async (folder) => {
    const provider: Provider = { mood: 'well' };
    const server = await startModelServer((request) => answer(provider, request), {
      record: 'none',
    });
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    // Safe mode would leave alone what the kills have cut, and so a part of the work.
    const more = ['recovery: { safeMode: false }'];
    configure(folder, { modelUrl: server.url, concurrent: LANES, more });
    const soak = new Soak(folder, provider, await startHost(folder));
    try {
      return await soak.run(minutes * 60_000);
    } finally {
      await soak.end();
      await server.close();
    }
  });
}

interface Provider {
  mood: 'well' | 'out' | 'slow';
}

const OK = says('ok');
const SUMMED_UP = says(JSON.stringify({ summary: 'hello was said, and ok' }));
const GOES_ON = says(JSON.stringify({ verdict: 'continue', reason: 'nothing speaks against it' }));
const IS_NEW = says(JSON.stringify({ taskId: null, reason: 'something else' }));

async function answer(
  provider: Provider,
  { text }: RecordedRequest,
): Promise<ReturnType<typeof says | typeof fails>> {
  if (provider.mood === 'out') return fails(503);
  if (provider.mood === 'slow') await pause(SLOW_MS);
  if (!text.includes('"response_format"')) return OK;
  if (text.includes('"name":"summary"')) return SUMMED_UP;
  return text.includes('"name":"assessment"') ? GOES_ON : IS_NEW;
}

class Soak {
  readonly #folder: string;
  readonly #provider: Provider;
  readonly #began = performance.now();
  readonly #samples: Sample[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #chaos: Record<string, number> = {};
  #host: HostProcess | null;
  #hostSince = performance.now();
  #isOver = false;

  constructor(folder: string, provider: Provider, host: HostProcess) {
    this.#folder = folder;
    this.#provider = provider;
    this.#host = host;
  }

  async run(ms: number): Promise<Figures> {
    const until = this.#began + ms;
    const lanes = Array.from({ length: LANES }, (_, lane) => this.#load(lane));
    await Promise.all([this.#sampled(until), this.#disturbed(until)]);
    this.#isOver = true;
    await Promise.all(lanes);
    const found = judge(this.#samples);
    return {
      ...found,
      statuses: this.#statuses,
      chaos: this.#chaos,
      minutes: round(ms / 60_000, 1),
    };
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#host?.kill();
  }

  /** Runs one after another in one conversation, whatever becomes of them. */
  async #load(lane: number): Promise<void> {
    while (!this.#isOver) {
      const host = this.#host;
      try {
        if (host !== null) await this.#turns(host, lane);
      } catch {
        this.#count('cut');
      }
      await pause(AGAIN_MS);
    }
  }

  async #turns(host: HostProcess, lane: number): Promise<void> {
    const connection = await Connection.open(host);
    try {
      const address = `lane${lane}`;
      const opened = await connection.post('/v1/conversations', { address });
      const { id: conversation } = JSON.parse(opened.body) as { readonly id: string };
      while (!this.#isOver) {
        const body = { input: 'hello', conversation, wait: WAIT_SECONDS };
        this.#count(String((await connection.post('/v1/runs', body)).status));
      }
    } finally {
      connection.close();
    }
  }

  #count(what: string): void {
    this.#statuses[what] = (this.#statuses[what] ?? 0) + 1;
  }

  async #sampled(until: number): Promise<void> {
    while (performance.now() < until) {
      await pause(SAMPLE_EACH_MS);
      const host = this.#host;
      if (host !== null && performance.now() - this.#hostSince >= GROWN_UP_MS) this.#sample(host);
    }
  }

  #sample(host: HostProcess): void {
    const wal = statSync(join(this.#folder, 'data/sekisho.db-wal'), { throwIfNoEntry: false });
    const sample = {
      minute: round((performance.now() - this.#began) / 60_000, 2),
      residentMiB: residentOf(host.pid).now,
      handles: readdirSync(`/proc/${host.pid}/fd`).length,
      walMiB: round((wal?.size ?? 0) / MEBIBYTE, 1),
    };
    this.#samples.push(sample);
    console.error(JSON.stringify(sample));
  }

  async #disturbed(until: number): Promise<void> {
    for (let count = 0; performance.now() + CHAOS_EACH_MS < until; count += 1) {
      await pause(CHAOS_EACH_MS);
      const chaos = CHAOS[count % CHAOS.length] ?? 'kill';
      console.error(chaos);
      await this.#disturb(chaos);
      this.#chaos[chaos] = (this.#chaos[chaos] ?? 0) + 1;
    }
  }

  async #disturb(chaos: Chaos): Promise<void> {
    const host = this.#host;
    if (host === null) throw new Error('there is no host');
    if (chaos === 'outage' || chaos === 'slow') {
      this.#provider.mood = chaos === 'outage' ? 'out' : 'slow';
      await pause(TROUBLE_MS);
      this.#provider.mood = 'well';
      return;
    }
    if (chaos === 'freeze') {
      process.kill(host.pid, 'SIGSTOP');
      await pause(STOPPED_MS);
      process.kill(host.pid, 'SIGCONT');
      return;
    }
    this.#host = null;
    await (chaos === 'kill' ? host.kill() : host.end());
    this.#host = await startHost(this.#folder);
    this.#hostSince = performance.now();
  }
}

/** Compares the first and the last third of the time behind a warm-up of a tenth. */
function judge(samples: readonly Sample[]): Figures {
  const kept = samples.slice(Math.floor(samples.length / 10));
  const third = Math.floor(kept.length / 3);
  const [first, last] = [kept.slice(0, third), kept.slice(-third)];
  const change = (of: (sample: Sample) => number): readonly [number, number] => [
    median(first.map(of)),
    median(last.map(of)),
  ];
  const resident = change(({ residentMiB }) => residentMiB);
  const handles = change(({ handles: count }) => count);
  const wal = change(({ walMiB }) => walMiB);
  const most = {
    residentMiB: Math.max(...kept.map(({ residentMiB }) => residentMiB)),
    handles: Math.max(...kept.map(({ handles: count }) => count)),
    walMiB: Math.max(...kept.map(({ walMiB }) => walMiB)),
  };
  const isFlat =
    resident[1] - resident[0] <= MORE.residentMiB && handles[1] - handles[0] <= MORE.handles;
  const isSmall = most.walMiB <= MOST.walMiB && most.residentMiB <= MOST.residentMiB;
  return {
    met: third > 0 && isFlat && isSmall,
    residentMiB: resident,
    residentMiBPerHour: round(slopeOf(kept) * 60, 1),
    handles,
    walMiB: wal,
    most,
    samples: kept.length,
  };
}

/** MiB a minute of the straight line that lies nearest to the samples. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [minute, resident] = [mean((one) => one.minute), mean((one) => one.residentMiB)];
  const both = mean((one) => (one.minute - minute) * (one.residentMiB - resident));
  return both / mean((one) => (one.minute - minute) ** 2);
}
