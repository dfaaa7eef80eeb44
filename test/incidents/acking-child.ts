// A host that accepts and answers messages until it is killed. It tells on stdout which message was
// acknowledged and how long the store's log was then. Started as: acking-child.ts FILE COUNT.
import { statSync, writeSync } from 'node:fs';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import { restOf, say, talkTo } from '../support/acts.ts';
import { Installation } from '../support/host.ts';

const [file = '', count = '0'] = process.argv.slice(2);
const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });
const store = openSqlite({ path: file, clock, ids });
const engine = createEngine(new Installation().parts({ store, clock, ids }));
await engine.start();
const conversationId = await talkTo(engine);
for (let index = 0; index < Number(count); index += 1) {
  const id = await say(engine, conversationId, `message ${index}`);
  writeSync(1, `ACK ${id} ${statSync(`${file}-wal`).size}\n`);
  await restOf(engine);
}
setInterval(() => {}, 60_000);
