// Two hosts of one installation over one PostgreSQL, each in a process of its own with a model server of its own.
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import { startHost, type HostProcess } from './host-process.ts';
import { answer, summaries } from './kill-model.ts';

/** So small that sessions outgrow it again and again. */
const WINDOW = 6_000;

export type Place = 0 | 1;
const PLACES: readonly Place[] = [0, 1];

export interface PairOrder {
  readonly storeUrl: string;
  readonly random: Random;
  /** Told of each request before it is answered, and of what kind it is. */
  readonly onAsked?: (place: Place, kind: AskedKind) => void;
}

export type AskedKind = 'assessment' | 'summary' | 'turn';

export class Pair {
  readonly folder: string;
  /** How often each step of each message was asked for, as `NUMBER:STEP`. */
  readonly asked: Map<string, number>;
  readonly #order: PairOrder;
  readonly #servers: readonly ModelServer[];
  readonly #hosts: (HostProcess | undefined)[] = [];
  readonly #whileBusy: string;
  #fallen: string | undefined;
  #isEnding = false;

  private constructor(of: {
    readonly folder: string;
    readonly order: PairOrder;
    readonly servers: readonly ModelServer[];
    readonly asked: Map<string, number>;
  }) {
    this.folder = of.folder;
    this.asked = of.asked;
    this.#order = of.order;
    this.#servers = of.servers;
    this.#whileBusy = of.order.random.pick(['wait', 'steer']);
  }

  /** Starts the model servers and both hosts. */
  static async start(order: PairOrder): Promise<Pair> {
    const folder = mkdtempSync(join(tmpdir(), 'sekisho-pair-'));
    mkdirSync(join(folder, 'workspace'));
    const asked = new Map<string, number>();
    const servers: ModelServer[] = [];
    for (const place of PLACES) servers.push(await modelFor(place, order, asked));
    const pair = new Pair({ folder, order, servers, asked });
    await Promise.all(PLACES.map((place) => pair.start(place)));
    return pair;
  }

  /** The hosts that run. */
  get hosts(): readonly HostProcess[] {
    return this.#hosts.flatMap((host) => host ?? []);
  }

  at(place: Place): HostProcess {
    const host = this.#hosts[place];
    if (host === undefined) throw new Error(`host ${place} does not run`);
    return host;
  }

  async start(place: Place): Promise<void> {
    const folder = join(this.folder, `host-${place}`);
    mkdirSync(folder, { recursive: true });
    const url = this.#servers[place]?.url ?? '';
    writeFileSync(join(folder, 'sekisho.yaml'), this.#config(url));
    const host = await startHost(folder);
    this.#hosts[place] = host;
    void this.#watch(place, host);
  }

  /** Throws when a host has ended by itself: nobody is there to start it again. */
  assertStanding(): void {
    if (this.#fallen !== undefined) throw new Error(`a host ended by itself, ${this.#fallen}`);
  }

  async #watch(place: Place, host: HostProcess): Promise<void> {
    const code = await host.ended;
    if (this.#hosts[place] === host && !this.#isEnding) this.#fallen ??= `host ${place}: ${code}`;
  }

  async kill(place: Place): Promise<void> {
    const host = this.#hosts[place];
    this.#hosts[place] = undefined;
    await host?.kill();
  }

  /** Ends both as an operator does. Rejects when one of them does not end well. */
  async end(): Promise<void> {
    this.assertStanding();
    this.#isEnding = true;
    const codes = await Promise.all(this.hosts.map((host) => host.end()));
    if (codes.some((code) => code !== 0)) throw new Error(`hosts ended with ${codes.join()}`);
  }

  /** How often each command ran, by its number. */
  get ledger(): ReadonlyMap<number, number> {
    const text = readFileSync(join(this.folder, 'workspace/ledger.txt'), 'utf8');
    const numbers = text.split('\n').filter(Boolean).map(Number);
    return new Map([...Map.groupBy(numbers, (one) => one)].map(([one, all]) => [one, all.length]));
  }

  /** How many lines of this host's log hold all of these pieces. */
  logged(place: Place, ...pieces: readonly string[]): number {
    const files = globSync(join(this.folder, `host-${place}/data/**/*.log*`));
    const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
    return lines.filter((line) => pieces.every((piece) => line.includes(piece))).length;
  }

  /** Ends whatever still runs and removes the folder. */
  async close(): Promise<void> {
    for (const place of PLACES) await this.kill(place);
    for (const server of this.#servers) await server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #config(url: string): string {
    return [
      'data: ./data',
      'workspace: ../workspace',
      'api: { port: 0 }',
      `store: '${this.#order.storeUrl}'`,
      `whileBusy: ${this.#whileBusy}`,
      'lease: { seconds: 2, renewSeconds: 1 }',
      'tick: { seconds: 1 }',
      // So many unclean starts are the load, and each interrupted task is assessed soon.
      'recovery: { safeMode: false, spacingSeconds: 0.2 }',
      'maintenance: { startAt: 0.6, firstDelaySeconds: 0.2, maxDelaySeconds: 2 }',
      `model: { provider: openai-compatible, baseURL: '${url}', name: scripted, contextWindow: ${WINDOW} }`,
      '',
    ].join('\n');
  }
}

async function modelFor(
  place: Place,
  { random, onAsked }: PairOrder,
  asked: Map<string, number>,
): Promise<ModelServer> {
  const summary = summaries(random);
  const tell = (kind: AskedKind): void => onAsked?.(place, kind);
  const respond = (request: RecordedRequest): ReturnType<typeof answer> => {
    const shape = JSON.stringify(request.body['response_format'] ?? null);
    tell(shape.includes('"verdict"') ? 'assessment' : 'turn');
    return answer(request, asked);
  };
  const summarise: typeof summary = (request) => {
    tell('summary');
    return summary(request);
  };
  return startModelServer(respond, {
    record: 'none',
    strict: { window: WINDOW, summary: summarise },
  });
}
