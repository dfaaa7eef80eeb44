import { after, before } from 'node:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgres } from '../../src/adapters/store/postgres/open.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { FIELDS } from '../../src/adapters/store/tables.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { Opened } from '../../src/testing/store-case.ts';
import { storeContract } from '../../src/testing/store-contract.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';

let counter = 0;
const ids: Ids = { next: (kind) => `${ID_PREFIX[kind]}${idBody(Date.now(), (counter += 1))}` };
const clock = { now: () => Date.now() };

function onFile(exclusive: boolean): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  const open = (): Opened['store'] =>
    openSqlite({ path: join(folder, 'store.db'), clock, ids, exclusive });
  return {
    store: open(),
    again: open,
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

storeContract({
  name: 'SQLite in memory',
  open: () => ({ store: openSqlite({ path: ':memory:', clock, ids }) }),
  excused: { 'what was committed is there when the store is opened again': 'memory is gone' },
});
storeContract({ name: 'SQLite in a file', open: () => onFile(true) });
storeContract({ name: 'SQLite in a shared file', open: () => onFile(false) });

// One schema for all cases, emptied between them: making one anew takes longer than a case.
let postgres: TestPostgres | undefined;
let url = '';
before(async () => {
  postgres = await startPostgres();
  url = await postgres.freshUrl();
  await (await openPostgres({ url, ids })).close();
});
after(() => postgres?.stop());

storeContract({
  name: 'PostgreSQL',
  async open() {
    await postgres?.empty(url, Object.keys(FIELDS));
    return { store: await openPostgres({ url, ids }), again: () => openPostgres({ url, ids }) };
  },
});
