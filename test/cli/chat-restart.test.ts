import assert from 'node:assert/strict';
import { test } from 'node:test';
import { says } from '../../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../../src/testing/model-server.ts';
import { isObject } from '../../src/kernel/json.ts';
import { Place } from '../e2e/process.ts';

function isAssessment({ body }: RecordedRequest): boolean {
  const format = body['response_format'];
  const schema = isObject(format) ? format['json_schema'] : undefined;
  return isObject(schema) && schema['name'] === 'assessment';
}

test('a start after a kill tells of what was cut, and answers what was queued, in the same conversation', async (t) => {
  const place = new Place();
  t.after(() => place.clear());
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const server = await startModelServer((request) => {
    if (isAssessment(request))
      return says(JSON.stringify({ verdict: 'inconclusive', reason: 'x' }));
    return request.order === 1
      ? says('never', { before: held.promise })
      : says('the queued answer');
  });
  t.after(() => server.close());
  place.configure(
    `model: { provider: openai-compatible, baseURL: "${server.url}", name: m }\napi: { port: 0 }\n`,
  );
  const first = await place.start({ args: [] });
  first.child.process.stdin?.write('the cut one\n');
  await server.arrived(1);
  const { items } = await first.client().conversations();
  assert.deepEqual(
    items.map(({ channel, address }) => [channel, address]),
    [['terminal', 'terminal']],
  );
  const conversation = items[0]?.id ?? '';
  await first.client().postMessage(conversation, { text: 'the queued one' });
  first.signal('SIGKILL');
  await first.child.ended;

  const second = await place.start({ args: [] });
  await second.child.line((line) => line === 'the queued answer');
  await second.child.line((line) => line.startsWith('■ I have stopped “the cut one”. '));
  const { stdout } = await second.stop();
  assert.equal(stdout.match(/^the queued answer$/gm)?.length, 1);
});
