// The traced process of the power-cut test: a host that accepts messages and answers them, and says on
// stdout which message was acknowledged. Started as: power-child.ts FILE COUNT [PRAGMA].
import { writeSync } from 'node:fs';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import { ADMIN, LedgerTools, OPTIONS, ScriptedModel, SILENT } from '../support/host.ts';

const [file, count, pragma] = process.argv.slice(2);
if (file === undefined || count === undefined)
  throw new Error('power-child.ts FILE COUNT [PRAGMA]');
const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });
const store = openSqlite({
  path: file,
  clock,
  ids,
  ...(pragma === undefined ? {} : { pragmas: [pragma] }),
});
const model = new ScriptedModel();
const instructions = (): Promise<string> => Promise.resolve('You are a test.');
const tools = new LedgerTools();
const engine = createEngine({
  store,
  clock,
  ids,
  digest: sha256,
  log: SILENT,
  agents: [{ name: 'main', instructions, tools, model, fallbacks: [] }],
  models: [model],
  classifier: model,
  assessment: model,
  summary: model,
  onStoreFailed: (reason) => {
    throw new Error(reason);
  },
  options: OPTIONS,
});
await engine.start();
const lanes = await Promise.all(
  [1, 2, 3].map((lane) =>
    engine.openConversation({ channel: 'terminal', address: `lane${lane}`, principal: ADMIN }),
  ),
);
for (let index = 0; index < Number(count); index += 1) {
  await Promise.all(
    lanes.map(async (conversationId) => {
      const accepted = await engine.acceptMessage({
        conversationId,
        text: `message ${index}`,
        principal: ADMIN,
      });
      if (accepted.kind === 'accepted') writeSync(1, `ACK ${accepted.messageId}\n`);
    }),
  );
}
await engine.stop(10_000);
await store.close();
