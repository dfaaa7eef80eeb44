// A process that holds a store: it says so on its first line and commits a host row for each line that
// it reads, answering each with what came of it.
import { createInterface } from 'node:readline';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import { put } from '../../src/testing/store-calls.ts';
import { hostRow, idOf } from '../../src/testing/store-rows.ts';

const [path = '', mode = 'exclusive'] = process.argv.slice(2);
let made = 0;
const store = openSqlite({
  path,
  clock: { now: () => Date.now() },
  ids: { next: (kind) => `${ID_PREFIX[kind]}${idBody(0, (made += 1))}` },
  exclusive: mode === 'exclusive',
});
process.stdout.write('held\n');
let hosts = 0;
for await (const line of createInterface({ input: process.stdin })) {
  hosts += 1;
  try {
    const row = hostRow({ id: idOf('host', hosts), pid: Number(line) });
    const { kind } = await put(store, { write: 'host.insert', row });
    process.stdout.write(`${kind}\n`);
  } catch (error) {
    process.stdout.write(`${(error as { code: string }).code}\n`);
  }
}
