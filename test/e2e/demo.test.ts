import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import type { Client } from '../../src/client/client.ts';
import { Place } from './process.ts';

const place = new Place();
after(() => place.clear());

/** Where a demo makes its folder. */
const ENV = { TMPDIR: place.folder } as const;

function demoFolders(): readonly string[] {
  return readdirSync(place.folder).filter((name) => name.startsWith('sekisho-demo-'));
}

/** Each of these lines, in this order. */
function assertTold(stdout: string, lines: readonly RegExp[]): void {
  let rest = stdout;
  for (const line of lines) {
    const match = line.exec(rest);
    assert.ok(match !== null, `${String(line)} is not told in:\n${stdout}`);
    rest = rest.slice(match.index + match[0].length);
  }
}

describe('a demo', { concurrency: false }, () => {
  test('of recovery shows the notice, the command of it, and that the tool ran once', async () => {
    const { code, stdout, stderr } = await place.run(['demo', 'recovery'], { env: ENV });
    assert.equal(code, 0, stderr + stdout);
    assertTold(stdout, [
      /\$ sekisho start\n {2}\| ready http:/,
      /> Send the newsletter/,
      /\| the newsletter was sent\n/,
      /\$ kill -9 \d+\n/,
      /check 1 of 3: .*\n.*check 2 of 3: .*\n.*check 3 of 3: /,
      /\| ■ I have stopped “Send the newsletter to the club”.*`\/budget-reset task_\w{16}`/,
      /> \/budget-reset task_\w{16}\n/,
      /\| The newsletter went to the club, once\./,
      /\| the newsletter was sent\n\n/,
      /was completed at/,
    ]);
    // oxlint-disable-next-line no-control-regex -- this is what is looked for
    assert.doesNotMatch(stdout, /\u001B/);
    assert.deepEqual(demoFolders(), []);
  });

  test('of the boundary shows the summary, the list, and that one command wakes one task', async () => {
    const { code, stdout, stderr } = await place.run(['demo', 'boundary'], { env: ENV });
    assert.equal(code, 0, stderr + stdout);
    assertTold(stdout, [
      /18 wait for an answer, 2 are worked on/,
      /\$ sekisho export old\.jsonl/,
      /\$ sekisho import old\.jsonl\n {2}\| Imported \d+ records/,
      /\$ sekisho start\n {2}\$ kill -9 \d+\n/,
      /\| ▸ 18 older tasks were found/,
      /completed: .*\n.*completed: /,
      /> \/tasks held\n {2}\| ■ “/,
      /> \/task-resume task_\w{16}\n/,
      /\| This is done now\./,
      /17 are held still/,
    ]);
    assert.deepEqual(demoFolders(), []);
  });

  test('of a long conversation shows what it goes on knowing, its notices, and how it goes on in order', async () => {
    const { code, stdout, stderr } = await place.run(['demo', 'context'], { env: ENV });
    assert.equal(code, 0, stderr + stdout);
    assertTold(stdout, [
      /> Before you delete anything, ask me first\./,
      /compacted {6}once\n.*to hold .*Before you delete anything, ask me first\.\n/,
      /> Please delete the letters.*\n {2}\| You told me to ask/,
      /\| \{"at":.*"text":"Before you delete anything, ask me first\."\}/,
      /\| \{"task":.*"request":"Remind me in three days/,
      /> \/status\n {2}\| The host is ready/,
      /try 1 of 7: (?:.*\n){6}.*try 7 of 7: /,
      /\| … I am making room.*messages are kept/,
      /\| ■ This conversation is paused.*seven times.*`\/admit mop_\w{16}`/,
      /run_\w{16} failed: exhausted/,
      /\$ kill -9 \d+\n {2}\$ sekisho start\n/,
      /\| mop_\w{16} {2}blocked \(exhausted\)/,
      /\| forbidden: /,
      /\| version_conflict: /,
      /\$ sekisho admit mop_\w{16} --receipt demo-receipt\n {2}\| Admitted/,
      /\| ▸ There is room/,
      /The third one, by Mia\./,
      /All of them wrote equally often\./,
      /I am, and there is room again\./,
      /\| receipt_used: /,
      /archived\n(?:.*\n)+?.*goes on in {5}sess_/,
      /current\n(?:.*\n)+?.*goes on from {3}sess_/,
    ]);
    assert.deepEqual(demoFolders(), []);
  });

  test('that is left in the middle leaves neither its host nor its folder', async () => {
    const demo = place.spawn(['demo', 'recovery'], ENV);
    await demo.line((line) => line.includes('ready http:'));
    assert.equal(demoFolders().length, 1);
    demo.process.kill('SIGINT');
    const { code, stdout } = await demo.ended;
    assert.equal(code, 1);
    const url = /ready (http:\S+)/.exec(stdout)?.[1] ?? '';
    await assert.rejects(fetch(`${url}/healthz`), TypeError);
    assert.deepEqual(demoFolders(), []);
  });

  test('that there is not is a slip in the command line', async () => {
    const { code, stderr } = await place.run(['demo', 'nothing']);
    assert.equal(code, 2);
    assert.match(stderr, /there are: recovery, boundary, context/);
  });
});

test('interrupted work goes on after a kill without any provider', async (t) => {
  const alone = new Place('model: { provider: rehearsal }\napi: { port: 0 }\n' + TOOLS);
  t.after(() => alone.clear());
  const first = await alone.start();
  const { id } = await first.client().createRun({ input: `run ${SLOW} then list` });
  for await (const { type } of first.client().runEvents(id)) if (type === 'tool.started') break;
  first.signal('SIGKILL');
  await first.child.ended;
  const second = await alone.start();
  const run = await followed(second.client(), id);
  assert.equal(run, 'run.completed');
  const { taskId } = await second.client().run(id);
  const events = await second.client().taskEvents(taskId, { limit: 100 });
  const checks = events.items.filter(({ type }) => type === 'assessment.ended');
  assert.deepEqual(
    checks.map(({ data }) => data?.['outcome']),
    ['continue'],
  );
});

const TOOLS = 'tools: { command: { approval: never } }\n';
const SLOW = 'sleep 30';

/** The type of the event that ends a run. */
async function followed(client: Client, id: string): Promise<string> {
  let last = '';
  for await (const { type } of client.runEvents(id)) last = type;
  return last;
}
