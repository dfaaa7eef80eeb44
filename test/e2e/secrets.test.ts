import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callsTool, says } from '../../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../../src/testing/model-server.ts';
import { Place } from './process.ts';

const CANARIES = Array.from({ length: 20 }, (_, at) => `canary-${at}-Zq7xV2mK9p${at * 7919}`);
const canary = (at: number): string => CANARIES[at] ?? '';

/** A canary as it is, in base64 and in a URL: masking the plain form alone would not be enough. */
function formsOf(secret: string): readonly string[] {
  return [secret, Buffer.from(secret).toString('base64').slice(0, 20), encodeURIComponent(secret)];
}

function found(where: string, text: string): string[] {
  return CANARIES.filter((secret) => formsOf(secret).some((form) => text.includes(form))).map(
    (secret) => `${secret} in ${where}`,
  );
}

test('INC-067 X-6: twenty secrets are in no file of the host, no log and no answer', async (t) => {
  const place = new Place();
  t.after(() => place.clear());
  const server = await startModelServer([]);
  t.after(() => server.close());
  // A provider that repeats the key it was given, in words, in arguments and in its errors.
  server.respondWith((request) => misbehave(request));
  const env: Record<string, string> = { MODEL_KEY: canary(0), OPS_KEY: canary(1) };
  for (let at = 2; at < 19; at += 1)
    env[`CANARY_${at}_${at % 2 === 0 ? 'TOKEN' : 'SECRET'}`] = canary(at);
  env['CANARY_18_URL'] = `postgres://me:${canary(18)}@h/db`;
  writeFileSync(join(place.folder, 'key-file'), canary(19));
  writeFileSync(join(place.folder, 'AGENT.md'), `Use ${canary(3)} for the printer.`);
  place.configure(
    [
      `model: { provider: openai-compatible, baseURL: "${server.url}", name: m, apiKey: { env: MODEL_KEY } }`,
      'api:',
      '  port: 0',
      '  keys:',
      '    - { name: ops, scopes: [run, read, admin], secret: { env: OPS_KEY } }',
      '    - { name: file, scopes: [read], secret: { file: key-file } }',
    ].join('\n'),
  );

  const host = await place.start({ env, args: ['--no-terminal', '--verbose'] });
  const client = host.client(canary(1));
  const answers: string[] = [];
  for (const input of ['say it', 'call it', 'fail with it', 'print the environment']) {
    const run = await client.createRun({ input: `${input}; mine is ${canary(4)}`, wait: 20 });
    answers.push(JSON.stringify(run));
    for await (const event of client.runEvents(run.id)) answers.push(JSON.stringify(event));
    answers.push(JSON.stringify(await client.transcript(run.conversationId)));
    answers.push(JSON.stringify(await client.why(run.taskId)));
  }
  answers.push(
    JSON.stringify([await client.tasks(), await client.outbox(), await client.status()]),
  );
  for (const path of ['/v1/none', '/v1/openapi.json', '/metrics']) {
    const headers = { Authorization: `Bearer ${canary(1)}` };
    answers.push(await (await fetch(`${host.url}${path}`, { headers })).text());
  }
  const shown = await place.run(['config', 'show'], { env });
  const listed = await place.run(['keys', 'list'], { env });
  const ended = await host.stop();

  assert.equal(server.requests[0]?.headers.authorization, `Bearer ${canary(0)}`);
  assert.ok(answers.join('').includes('[redacted]'), 'nothing was masked, so nothing was tried');
  const sent = server.requests.map(({ text }) => text).join('\n');
  const leaks = [
    ...found('answers', answers.join('\n')),
    ...found('the model request', sent),
    ...found('stdout', ended.stdout),
    ...found('stderr', ended.stderr),
    ...found('config show', `${shown.stdout}${shown.stderr}`),
    ...found('keys list', `${listed.stdout}${listed.stderr}`),
    ...filesOf(place.data).flatMap(([path, text]) => found(path, text)),
    ...filesOf(join(place.folder, 'workspace')).flatMap(([path, text]) => found(path, text)),
  ];
  assert.deepEqual(leaks, []);
});

function misbehave(request: RecordedRequest): ReturnType<typeof says> {
  const key = String(request.headers.authorization).replace('Bearer ', '');
  if (request.body['messages'] === undefined) return says('ok');
  const { lastText } = request;
  const half = Math.ceil(key.length / 2);
  if (lastText.startsWith('say it'))
    return says(['you sent ', key.slice(0, half), key.slice(half)]);
  if (lastText.startsWith('call it')) return callsTool('write', { path: 'a.txt', content: key });
  if (lastText.startsWith('print')) return callsTool('command', { command: 'env' });
  if (lastText.startsWith('fail')) return refusal(key);
  return says(`done with ${lastText}`);
}

function refusal(key: string): ReturnType<typeof says> {
  const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } });
  return { kind: 'status', status: 401, body } as never;
}

/** Every file below a folder, as text whatever it holds. */
function filesOf(folder: string): [path: string, text: string][] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  assert.ok(files.length > 0, `${folder} holds nothing to look at`);
  return files.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path, readFileSync(path, 'latin1')];
  });
}
