import type { Agent, EngineOptions, EngineParts, Engine } from '../../src/engine/engine.ts';
import { createEngine } from '../../src/engine/create.ts';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { canonicalJson } from '../../src/kernel/json.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Model, ModelCall, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Store } from '../../src/ports/store.ts';
import { strictlyCounted, strictRefusal } from '../../src/testing/model-strict-port.ts';
import type { Shown } from '../../src/core/approval/record.ts';
import type { Examined, Tool, ToolCall, ToolOutcome, Tools } from '../../src/ports/tools.ts';

export const ADMIN: Principal = { kind: 'key', id: 'ops', isAdmin: true };
export const ANNA: Principal = { kind: 'key', id: 'anna', isAdmin: false };
export const BEN: Principal = { kind: 'key', id: 'ben', isAdmin: false };

/** A clock whose sleepers wake only when the test advances it. */
export class HandClock implements Clock {
  #now = 1_800_000_000_000;
  #uptime = 1_000_000;
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  readonly #watchers = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  uptime(): number {
    return this.#uptime;
  }

  /** What an operator or a time server does: the uptime knows nothing of it. */
  jump(ms: number): void {
    this.#now += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      // Timers run by uptime: a clock that is set wakes nobody.
      const sleeper = { at: this.#uptime + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      for (const watch of this.#watchers) watch();
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        resolve();
      });
      if (signal?.aborted === true) resolve();
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#uptime += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.at > this.#uptime) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }

  /** How long the next who wakes still sleeps; undefined when nobody does. */
  get nextIn(): number | undefined {
    const instants = [...this.#sleepers].map(({ at }) => at - this.#uptime);
    return instants.length === 0 ? undefined : Math.max(Math.min(...instants), 0);
  }

  /** Resolves when somebody sleeps who wakes within `ms`. */
  async sleeper(ms: number): Promise<void> {
    for (;;) {
      const last = this.#uptime + ms;
      if ([...this.#sleepers].some(({ at }) => at <= last)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.add(resolve);
      await promise;
      this.#watchers.delete(resolve);
    }
  }
}

type Script = (request: ModelRequest, signal: AbortSignal) => ModelOutcome | Promise<ModelOutcome>;

/** A model that answers by a function and counts its calls. */
export class ScriptedModel implements Model {
  readonly provider = 'scripted';
  readonly name: string;
  readonly price = 'free';
  readonly rates = null;
  contextWindow = 128_000;
  /**
   * In tokens: from there on it refuses as a strict provider does, counts its usage by the request's
   * size, and takes calls and results in pairs alone. Null takes and says anything.
   */
  strictWindow: number | null = null;
  readonly requests: ModelRequest[] = [];
  /** Of a cheap sign of life, which counts as no request. */
  alive = true;
  answer: Script;

  constructor(answer: Script = () => says('ok'), name = 'configured-model') {
    this.answer = answer;
    this.name = name;
  }

  get account(): string {
    return `scripted ${this.name}`;
  }

  async probe(): Promise<'alive' | 'unreachable'> {
    return this.alive ? 'alive' : 'unreachable';
  }

  async call(request: ModelRequest, live: Parameters<Model['call']>[1]): Promise<ModelOutcome> {
    this.requests.push(request);
    const outcome = await this.#outcome(request, live.signal);
    if (outcome.kind === 'reply') live.onText(outcome.text);
    return outcome;
  }

  async #outcome(request: ModelRequest, signal: AbortSignal): Promise<ModelOutcome> {
    if (this.strictWindow === null) return this.answer(request, signal);
    const refused = strictRefusal(request, this.strictWindow);
    return refused ?? strictlyCounted(await this.answer(request, signal), request);
  }
}

/** An assessment that says this. */
export function judges(
  verdict: 'continue' | 'end' | 'inconclusive',
  reason = 'as told',
): ModelOutcome {
  return says(JSON.stringify({ verdict, reason }));
}

/** A summary of these words. */
export function sumsUp(summary: string): ModelOutcome {
  return says(JSON.stringify({ summary }));
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

export function fails(
  kind: 'refused' | 'transient' | 'nonsense',
  code: string,
  more: { readonly retryAt?: number; readonly scope?: 'account' | 'model' | 'request' } = {},
): ModelOutcome {
  const { retryAt = null, scope = 'request' } = more;
  return {
    kind: 'fault',
    class: kind,
    code,
    message: 'the provider said no',
    retryAt,
    scope,
    usage: null,
  };
}

type Run = (call: ToolCall, signal: AbortSignal) => ToolOutcome | Promise<ToolOutcome>;

/** What would run for a call: a tool of the tests has no more to show than its arguments. */
function shownOf(call: ToolCall): Shown {
  return { argv: [call.name, call.args], folder: '/workspace', env: {}, files: [] };
}

function bytesOf(shown: Shown): string {
  return canonicalJson(shown);
}

/** Tools that keep a ledger of what really ran. */
export class LedgerTools implements Tools {
  readonly ran: ToolCall[] = [];
  readonly list: readonly Tool[] = [
    tool('look', 'yes'),
    tool('pay', 'no'),
    { ...tool('note', 'yes'), changes: 'yes' },
  ];
  perform: Run;
  /** Names of tools that wait for a person. */
  readonly asked = new Set<string>();
  approver: 'any' | 'other' = 'any';
  /** What would run now: a test changes it to change a byte between question and answer. */
  show: (call: ToolCall) => Shown = shownOf;

  constructor(run: Run = () => ({ kind: 'result', text: 'done' })) {
    this.perform = run;
  }

  async examine(call: ToolCall): Promise<Examined> {
    const needsApproval = this.asked.has(call.name);
    return { needsApproval, approver: this.approver, shown: this.show(call) };
  }

  async run(call: ToolCall, signal: AbortSignal, approved?: Shown): Promise<ToolOutcome> {
    if (approved !== undefined && bytesOf(approved) !== bytesOf(this.show(call)))
      return { kind: 'error', code: 'changed', text: 'it is not what was shown' };
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
  pid: 1,
  locale: 'en',
  timeZone: 'UTC',
  concurrentConversations: 8,
  deadlineMs: null,
  turnsLimit: 50,
  tokensLimit: 2_000_000,
  costLimitMicroUsd: 20_000_000,
  continuationsLimit: 20,
  whileBusy: 'steer',
  approvalMs: 86_400_000,
  recovery: { safeMode: false, spacingMs: 60_000, callMs: 60_000, diagnostics: false },
  maintenance: { startAt: 0.8, firstDelayMs: 1_000, maxDelayMs: 60_000 },
  leaseMs: 15_000,
  leaseRenewMs: 5_000,
  tickMs: 30_000,
};

/** Parts of a host, and of its one agent. */
export type GivenParts = Partial<EngineParts> &
  Partial<Pick<Agent, 'model' | 'tools' | 'instructions' | 'fallbacks'>>;

/** One installation in memory: hosts come and go over the same store. */
export class Installation {
  readonly clock = new HandClock();
  readonly ids = createIds({ now: () => this.clock.now(), random: () => 1 });
  readonly model = new ScriptedModel();
  /** Says that every message begins a new task until a test teaches it better. */
  readonly classifier = new ScriptedModel(
    () => says('{"taskId":null,"reason":"something new"}'),
    'classifier-model',
  );
  /** Judges interrupted work; it cannot be reached in the sense of R-5 until a test teaches it better. */
  readonly assessor = new ScriptedModel(() => fails('transient', 'http_503'), 'assessment-model');
  /** Sums up whatever it is shown in the same few words until a test teaches it better. */
  readonly summariser = new ScriptedModel(() => sumsUp('what was said so far'), 'summary-model');
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
  parts(given: GivenParts = {}): EngineParts {
    const { model = this.model, tools = this.tools, instructions, fallbacks = [], ...rest } = given;
    const agent: Agent = {
      name: 'main',
      instructions: instructions ?? (() => Promise.resolve('You are a test.')),
      tools,
      model,
      fallbacks,
    };
    return {
      store: this.store,
      clock: this.clock,
      ids: this.ids,
      digest: sha256,
      log: SILENT,
      agents: [agent],
      models: [model, ...fallbacks],
      classifier: this.classifier,
      assessment: this.assessor,
      summary: this.summariser,
      onStoreFailed: (reason) => this.failures.push(reason),
      options: OPTIONS,
      ...rest,
    };
  }

  async host(given: GivenParts = {}): Promise<Engine> {
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
