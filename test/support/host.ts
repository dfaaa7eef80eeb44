import type { EngineOptions, EngineParts, Engine } from '../../src/engine/engine.ts';
import { createEngine } from '../../src/engine/create.ts';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Model, ModelCall, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Store } from '../../src/ports/store.ts';
import type { Tool, ToolCall, ToolOutcome, Tools } from '../../src/ports/tools.ts';

export const ADMIN: Principal = { kind: 'key', id: 'ops', isAdmin: true };
export const ANNA: Principal = { kind: 'key', id: 'anna', isAdmin: false };
export const BEN: Principal = { kind: 'key', id: 'ben', isAdmin: false };

/** A clock whose sleepers wake only when the test advances it. */
export class HandClock implements Clock {
  #now = 1_800_000_000_000;
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        resolve();
      });
      if (signal?.aborted === true) resolve();
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.at > this.#now) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

type Script = (request: ModelRequest, signal: AbortSignal) => ModelOutcome | Promise<ModelOutcome>;

/** A model that answers by a function and counts its calls. */
export class ScriptedModel implements Model {
  readonly provider = 'scripted';
  readonly name = 'configured-model';
  readonly price = 'free';
  readonly contextWindow = 128_000;
  readonly requests: ModelRequest[] = [];
  answer: Script;

  constructor(answer: Script = () => says('ok')) {
    this.answer = answer;
  }

  async call(request: ModelRequest, live: Parameters<Model['call']>[1]): Promise<ModelOutcome> {
    this.requests.push(request);
    const outcome = await this.answer(request, live.signal);
    if (outcome.kind === 'reply') live.onText(outcome.text);
    return outcome;
  }
}

export function says(text: string): ModelOutcome {
  return reply({ text, calls: [], stop: 'end' });
}

export function asks(...calls: readonly (readonly [name: string, args: unknown])[]): ModelOutcome {
  const made: ModelCall[] = calls.map(([name, args], index) => ({
    id: `call_${index}`,
    name,
    args: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return reply({ text: '', calls: made, stop: 'calls' });
}

function reply(content: {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly stop: 'end' | 'calls';
}): ModelOutcome {
  const usage = { inputTokens: 10, outputTokens: 5, cost: 3 };
  return { kind: 'reply', provider: 'scripted', model: 'reported-model', usage, ...content };
}

export function fails(kind: 'refused' | 'transient' | 'nonsense', code: string): ModelOutcome {
  return {
    kind: 'fault',
    class: kind,
    code,
    message: 'the provider said no',
    retryAt: null,
    usage: null,
  };
}

type Run = (call: ToolCall, signal: AbortSignal) => ToolOutcome | Promise<ToolOutcome>;

/** Tools that keep a ledger of what really ran. */
export class LedgerTools implements Tools {
  readonly ran: ToolCall[] = [];
  readonly list: readonly Tool[] = [
    tool('look', 'yes'),
    tool('pay', 'no'),
    { ...tool('note', 'yes'), changes: 'yes' },
  ];
  perform: Run;

  constructor(run: Run = () => ({ kind: 'result', text: 'done' })) {
    this.perform = run;
  }

  async run(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
    this.ran.push(call);
    return this.perform(call, signal);
  }
}

function tool(name: string, repeatable: 'yes' | 'no'): Tool {
  const changes = repeatable === 'yes' ? 'no' : 'yes';
  return { name, description: name, parameters: { type: 'object' }, repeatable, changes };
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export const OPTIONS: EngineOptions = {
  agent: 'main',
  pid: 1,
  locale: 'en',
  timeZone: 'UTC',
  concurrentConversations: 8,
  deadlineMs: null,
  turnsLimit: 50,
  tokensLimit: 2_000_000,
  costLimitMicroUsd: 20_000_000,
  continuationsLimit: 20,
  leaseMs: 15_000,
  leaseRenewMs: 5_000,
  tickMs: 30_000,
};

/** One installation in memory: hosts come and go over the same store. */
export class Installation {
  readonly clock = new HandClock();
  readonly ids = createIds({ now: () => this.clock.now(), random: () => 1 });
  readonly model = new ScriptedModel();
  readonly tools = new LedgerTools();
  readonly failures: string[] = [];
  readonly #sqlite: ReturnType<typeof openSqlite>;
  readonly store: Store;

  /** In memory nothing can hold a lock, so the trait is given: exclusive unless a test says shared. */
  constructor(options: { readonly exclusive?: boolean } = {}) {
    const { clock, ids } = this;
    const sqlite = openSqlite({ path: ':memory:', clock, ids });
    this.#sqlite = sqlite;
    this.store = {
      traits: { exclusive: options.exclusive ?? true, description: 'in memory' },
      commit: (unit) => sqlite.commit(unit),
      query: (read, args) => sqlite.query(read, args),
      close: () => sqlite.close(),
    };
  }

  /** Parts of a host; what is given replaces the default. */
  parts(given: Partial<EngineParts> = {}): EngineParts {
    return {
      store: this.store,
      clock: this.clock,
      ids: this.ids,
      digest: sha256,
      log: SILENT,
      model: this.model,
      tools: this.tools,
      instructions: () => Promise.resolve('You are a test.'),
      onStoreFailed: (reason) => this.failures.push(reason),
      options: OPTIONS,
      ...given,
    };
  }

  async host(given: Partial<EngineParts> = {}): Promise<Engine> {
    const engine = createEngine(this.parts(given));
    await engine.start();
    return engine;
  }

  async rows(table: string): Promise<readonly Record<string, unknown>[]> {
    return this.#sqlite.inspect(`select * from "${table}"`);
  }
}

/** Resolves when `holds` does, asked again at each hint of the conversation. */
export async function until<T>(
  engine: Engine,
  conversationId: ConversationId,
  holds: () => Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const { promise: hinted, resolve } = Promise.withResolvers<void>();
    const leave = engine.live.subscribe(conversationId, () => resolve());
    const found = await holds();
    if (found !== undefined && found !== false) {
      leave();
      return found;
    }
    await hinted;
    leave();
  }
}

/** The task of a conversation's newest work once it is in this state. */
export async function taskIn(
  engine: Engine,
  conversationId: ConversationId,
  state: string,
): ReturnType<typeof firstTask> {
  return until(engine, conversationId, () => firstTask(engine.store, conversationId, state));
}

async function firstTask(store: Store, conversationId: ConversationId, state: string) {
  const args = { state, enrollment: '', conversationId, before: '~', limit: 1 };
  const [task] = await store.query('task.list', args);
  return task as NonNullable<typeof task>;
}
