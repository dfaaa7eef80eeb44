// A host on a store file that kills itself, really, right after one commit of a turn with tools. Started
// as: killed-child.ts FILE INDEX. It tells `COMMITS n` on stdout when it came through instead.
import { writeSync } from 'node:fs';
import { createSystemClock } from '../../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../../src/engine/create.ts';
import type { Store } from '../../src/ports/store.ts';
import { eventually, talkTo, say } from '../support/acts.ts';
import { asks, Installation, says, SILENT } from '../support/host.ts';

const [file = '', index = '-1'] = process.argv.slice(2);
const clock = createSystemClock();
const ids = createIds({ now: () => clock.now(), random: secureRandom });
const real = openSqlite({ path: file, clock, ids });
let commits = 0;

const store: Store = {
  traits: real.traits,
  async commit(unit) {
    const isLast = commits === Number(index);
    commits += 1;
    const committed = await real.commit(unit);
    if (isLast) process.kill(process.pid, 'SIGKILL');
    return committed;
  },
  query: (read, args) => real.query(read, args),
  close: () => real.close(),
};

const place = new Installation();
place.model.answer = (request) => {
  const results = request.messages.filter(({ role }) => role === 'tool').length;
  if (results === 0) return asks(['pay', { n: 1 }], ['look', { n: 2 }]);
  return results === 2 ? asks(['pay', { n: 3 }]) : says('all done');
};
const engine = createEngine(place.parts({ store, clock, ids, log: SILENT }));
await engine.start();
const conversationId = await talkTo(engine);
const messageId = await say(engine, conversationId, 'pay twice', { externalId: 'order-1' });
await eventually(async () => {
  return (await store.query('message.byId', { id: messageId }))?.state === 'done';
});
await engine.stop(0);
await store.close();
writeSync(1, `COMMITS ${commits}\n`);
