// The host of the power cuts: what it does depends on its seed, and everything that the outside learns of it
// goes to whoever started it.
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import type { SqliteStore } from '../../src/adapters/store/sqlite/group.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import {
  asks,
  judges,
  LedgerTools,
  OPTIONS,
  says,
  ScriptedModel,
  SILENT,
} from '../support/host.ts';

export interface PowerHost {
  readonly engine: Engine;
  readonly store: SqliteStore;
  /** Lets go of the file; the engine has ended. */
  stop(): Promise<void>;
}

export interface PowerOptions {
  readonly path: string;
  readonly pragmas: readonly string[];
  /** Told of each call that runs, while it runs, by its step. */
  readonly onRun: (stepId: string) => void;
}

/** Opens the store and starts an engine on it, which judges cut work harmless at once. */
export async function startPowerHost({ path, pragmas, onRun }: PowerOptions): Promise<PowerHost> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  const store = openSqlite({ path, clock, ids, pragmas });
  const model = new ScriptedModel(answer);
  const judge = new ScriptedModel(() => judges('continue'), 'judge');
  const tools = new LedgerTools();
  tools.perform = ({ stepId }) => {
    onRun(stepId);
    return { kind: 'result', text: 'done' };
  };
  const instructions = (): Promise<string> => Promise.resolve('You are a test.');
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const engine = createEngine({
    store,
    clock,
    ids,
    digest: sha256,
    log: SILENT,
    agents: [{ name: 'main', instructions, tools, model, fallbacks: [] }],
    models: [model],
    classifier: new ScriptedModel(() => says('{"taskId":null,"reason":"it is new"}'), 'classifier'),
    assessment: judge,
    summary: model,
    onStoreFailed: (reason) => reject(new Error(reason)),
    options: { ...OPTIONS, tickMs: 100, recovery: { ...OPTIONS.recovery, spacingMs: 1 } },
  });
  await engine.start();
  return {
    engine,
    store,
    async stop() {
      await Promise.race([engine.stop(10_000), failed]);
      await store.close();
    },
  };
}

/** A message names the calls that it wants, one letter each; the rest of it is weight. */
function answer({ messages }: ModelRequest): ModelOutcome {
  const said = messages.findLastIndex((one) => one.role === 'user' && /^calls \w*:/.test(one.text));
  const one = messages[said];
  const wanted = /^calls (\w*):/.exec(one?.role === 'user' ? one.text : '')?.[1] ?? '';
  const made = messages.slice(said).filter(({ role }) => role === 'tool').length;
  const name = TOOLS[wanted[made] ?? ''];
  return name === undefined ? says('ok') : asks([name, { place: made }]);
}

const TOOLS: Readonly<Record<string, string>> = { l: 'look', n: 'note', p: 'pay' };
