// The forms of addresses and the rebinding of names are played against the tool itself in
// test/adapters/tools-fetch.test.ts; here the whole way, from a model's call to what the next request holds.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { callsTool, says, type ReplyAnswer } from '../../src/testing/model-answer.ts';
import type { RecordedRequest } from '../../src/testing/model-server.ts';
import { openStage, resultsIn, type Stage } from './stage.ts';

const SECRET = 'the inner page of the keeper';

interface Site {
  readonly port: number;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
}

async function openSite(t: TestContext, answer: RequestListener, host: string): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, asked };
}

/** A host whose model fetches `url` once and then repeats what it got. */
function surfingStage(t: TestContext, url: () => string, allow: readonly string[]): Promise<Stage> {
  const script = (request: RecordedRequest): ReplyAnswer =>
    resultsIn(request) === 0 ? callsTool('fetch', { url: url() }) : says(request.lastText);
  const names = allow.map((one) => `'${one}'`).join(', ');
  return openStage(t, script, '', `tools: { fetch: { allow: [${names}] } }\n`);
}

/** Everything that the host tells of a run afterwards, and what its model was told. */
async function toldOf(stage: Stage): Promise<string> {
  const client = stage.host.client();
  const run = await client.createRun({ input: 'read that page', wait: 20 });
  assert.equal(run.status, 'completed');
  const told: unknown[] = [run, await client.transcript(run.conversationId)];
  told.push(await client.task(run.taskId), await client.why(run.taskId), await client.outbox());
  for await (const event of client.runEvents(run.id)) told.push(event);
  return JSON.stringify(told) + stage.server.requests.map(({ text }) => text).join('\n');
}

/** Where a redirect leads: to this machine in many words, and to the keepers of machines in clouds. */
function innerForms(port: number): readonly string[] {
  return [
    `http://127.0.0.1:${port}/`,
    `http://[::1]:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://0x7f000001:${port}/`,
    `http://2130706433:${port}/`,
    `http://0177.1:${port}/`,
    `http://localhost:${port}/`,
    `http://0.0.0.0:${port}/`,
    'http://169.254.169.254/latest/meta-data/',
    'http://100.100.100.200/latest/meta-data/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://10.0.0.1/',
    'http://[fd00::1]/',
  ];
}

test('INC-070 X-7 a page that is allowed by name cannot lead a fetch of the model to an inner address', async (t) => {
  const inner = await openSite(t, (_, response) => response.end(SECRET), '::');
  let location = '';
  const outer = await openSite(
    t,
    (_, response) => response.writeHead(302, { location }).end(`see ${location}`),
    '127.0.0.1',
  );
  const url = `http://127.0.0.1:${outer.port}/start`;
  const stage = await surfingStage(t, () => url, [`127.0.0.1:${outer.port}`]);
  const forms = innerForms(inner.port);
  for (const form of forms) {
    location = form;
    const told = await toldOf(stage);
    assert.ok(!told.includes(SECRET), form);
    assert.match(told, /behind a redirect: the host is not on the public net/, form);
  }
  assert.deepEqual(inner.asked, [], 'nothing inner was connected to');
  assert.equal(outer.asked.length, forms.length, 'each is followed once and not tried again');
});

test('INC-070 X-7 an inner address that the model names itself is an error that it reads, and no connection', async (t) => {
  const inner = await openSite(t, (_, response) => response.end(SECRET), '::');
  const left = [...innerForms(inner.port)];
  const stage = await surfingStage(t, () => left[0] ?? '', []);
  while (left.length > 0) {
    const told = await toldOf(stage);
    assert.ok(!told.includes(SECRET), left[0]);
    assert.match(told, /the host is not on the public net, and it is not allowed by name/);
    left.shift();
  }
  assert.deepEqual(inner.asked, []);
});

test('INC-070 a fetch of what is allowed by name gives its page, behind a redirect too', async (t) => {
  const inner = await openSite(
    t,
    ({ url }, response) => {
      if (url === '/page') response.end('the page that was asked for');
      else response.writeHead(302, { location: '/page' }).end();
    },
    '127.0.0.1',
  );
  const url = `http://localhost:${inner.port}/`;
  const stage = await surfingStage(t, () => url, ['localhost']);
  assert.match(await toldOf(stage), /the page that was asked for/);
  assert.deepEqual(inner.asked, ['/', '/page']);
});
