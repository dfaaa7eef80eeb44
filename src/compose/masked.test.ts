import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shown } from '../core/approval/record.ts';
import type { Tools } from '../ports/tools.ts';
import { maskPieces, maskTools } from './masked.ts';

const SECRET = 'canary-0123456789';

function passed(pieces: readonly string[]): string[] {
  const out: string[] = [];
  const words = maskPieces([SECRET, 'short'])((piece) => out.push(piece));
  for (const piece of pieces) words.push(piece);
  words.end();
  return out;
}

test('INC-067: a secret that lies across live pieces is masked', () => {
  for (let cut = 1; cut < SECRET.length; cut += 1) {
    const out = passed([`it is ${SECRET.slice(0, cut)}`, `${SECRET.slice(cut)}, yes`]).join('');
    assert.equal(out, 'it is [redacted], yes');
  }
  assert.equal(passed(`it is ${SECRET}`.split('')).join(''), 'it is [redacted]');
});

test('a piece that begins no secret is passed on at once', () => {
  assert.deepEqual(passed(['Hello', ' canal', ' boat']), ['Hello', ' canal', ' boat']);
  assert.deepEqual(passed(['a can', 'ary bird']), ['a ', 'canary bird']);
  assert.deepEqual(passed(['it ends with cana']), ['it ends with ', 'cana']);
});

/** Tools whose one call shows a secret, and that note what they were told to run. */
function showing(ran: (Shown | undefined)[], folder = '/work'): { tools: Tools; shown: Shown } {
  const shown: Shown = {
    argv: ['sh', '-c', `echo ${SECRET}`],
    folder,
    env: { TOKEN: SECRET },
    files: [{ path: `bin/${SECRET}`, hash: 'h' }],
  };
  const tools: Tools = {
    list: [],
    examine: () => Promise.resolve({ needsApproval: true, approver: 'other', shown }),
    run(_call, _signal, approved) {
      ran.push(approved);
      return Promise.resolve({ kind: 'result', text: `said ${SECRET}` });
    },
  };
  return { tools, shown };
}

const CALL = { name: 'command', args: '{}', stepId: 's' };
const { signal } = new AbortController();

test('X-6: what a person is shown of a call, and what it gave, hold no secret', async () => {
  const masked = maskTools(showing([]).tools, [SECRET]);
  const examined = await masked.examine(CALL);
  assert.deepEqual([examined.needsApproval, examined.approver], [true, 'other']);
  assert.deepEqual(examined.shown?.argv, ['sh', '-c', 'echo [redacted]']);
  assert.ok(!JSON.stringify(examined).includes(SECRET));
  assert.deepEqual(await masked.run(CALL, signal), { kind: 'result', text: 'said [redacted]' });
});

test('E-6: what was approved behind the mask is what runs, and nothing else does', async () => {
  const ran: (Shown | undefined)[] = [];
  const { tools, shown } = showing(ran);
  const masked = maskTools(tools, [SECRET]);
  const approved = (await masked.examine(CALL)).shown;
  assert.ok(approved !== null);
  await masked.run(CALL, signal, approved);
  assert.deepEqual(ran, [shown]);
  const other = { ...approved, folder: '/elsewhere' };
  await masked.run(CALL, signal, other);
  assert.deepEqual(ran[1], other, 'it fits nothing, so the tools refuse it');
});
