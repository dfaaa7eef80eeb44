import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, describe, test } from 'node:test';
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
    assert.match(stderr, /there are: recovery, boundary/);
  });
});
