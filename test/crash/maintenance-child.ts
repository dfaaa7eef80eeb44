// A host that kills itself with SIGKILL right before or after a unit of maintenance is committed. It says the
// same messages in the same order however often it is started, each once the one before is answered.
// Started as: maintenance-child.ts FILE COUNT [UNIT before|after].
import { writeSync } from 'node:fs';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { Store } from '../../src/ports/store.ts';
import {
  ADMIN,
  LedgerTools,
  OPTIONS,
  ScriptedModel,
  says,
  SILENT,
  sumsUp,
} from '../support/host.ts';

const [file, count, unitName, when] = process.argv.slice(2);
if (file === undefined || count === undefined)
  throw new Error('maintenance-child.ts FILE COUNT [UNIT before|after]');
const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });
const sqlite = openSqlite({ path: file, clock, ids });

/** Nothing that this process would still do happens. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

const store: Store = {
  traits: sqlite.traits,
  query: (read, args) => sqlite.query(read, args),
  close: () => sqlite.close(),
  commit: async (unit) => {
    const isIt = unit.name === unitName;
    if (isIt && when === 'before') die();
    const committed = await sqlite.commit(unit);
    if (isIt && when === 'after') die();
    return committed;
  },
};

const model = new ScriptedModel(() => says('ok'));
model.contextWindow = 6_000;
model.strictWindow = 6_000;
const summary = new ScriptedModel(() => {
  writeSync(1, 'SUMMARY\n');
  return sumsUp('what was said so far');
}, 'summary-model');
const engine = createEngine({
  store,
  clock,
  ids,
  digest: sha256,
  log: SILENT,
  agents: [
    {
      name: 'main',
      instructions: () => Promise.resolve('You are a test.'),
      tools: new LedgerTools(),
      model,
      fallbacks: [],
    },
  ],
  models: [model],
  classifier: model,
  assessment: new ScriptedModel(() => says('{"verdict":"continue","reason":"harmless"}'), 'judge'),
  summary,
  onStoreFailed: (reason) => {
    throw new Error(reason);
  },
  options: {
    ...OPTIONS,
    recovery: { ...OPTIONS.recovery, spacingMs: 50 },
    maintenance: { startAt: 0.5, firstDelayMs: 50, maxDelayMs: 100 },
    tickMs: 200,
  },
});
await engine.start();
const conversationId = await engine.openConversation({
  channel: 'terminal',
  address: 'kept',
  principal: ADMIN,
});
for (let index = 0; index < Number(count); index += 1) {
  const text = `message ${index}: ${'and so on '.repeat(360)}`;
  const accepted = await engine.acceptMessage({
    conversationId,
    text,
    principal: ADMIN,
    externalId: `message ${index}`,
  });
  if (accepted.kind !== 'accepted') throw new Error(`message ${index} was refused`);
  const { messageId: id } = accepted;
  while ((await store.query('message.byId', { id }))?.state !== 'done') await clock.sleep(10);
}
await engine.stop(10_000);
await store.close();
writeSync(1, 'ANSWERED\n');
