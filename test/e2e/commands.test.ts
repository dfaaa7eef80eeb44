import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { Place, type Ended, type RunningHost } from './process.ts';

const WORKER = 'exec_7K2M9QX4R1T8WZ3C';
const UNKNOWN = 'task_0000000000000000';
const APPROVAL = 'appr_0000000000000000';
const OPERATION = 'mop_0000000000000000';
const SESSION = 'sess_0000000000000000';

/** Each command that reads records, and a field of the one document that it prints. */
const READING: readonly [args: string, field: string][] = [
  ['status', 'state'],
  ['tasks --state completed --limit 1', 'items'],
  ['tasks --held', 'items'],
  ['workers --held --limit 2', 'items'],
  ['task TASK', 'mandate'],
  ['why TASK', 'sentence'],
  ['conversations', 'items'],
  ['outbox', 'items'],
  ['approvals --state open', 'items'],
  ['usage --days 2', 'days'],
  ['maintenance --state open --limit 2', 'items'],
  ['session', 'items'],
];
/** The same for what is read without records. */
const LOCAL: readonly [args: string, field: string][] = [
  ['logs -n 3', 'items'],
  ['keys list', 'items'],
  ['config show', 'items'],
  ['config keys', 'items'],
  ['config check', 'ok'],
];

const place = new Place();
let taskId = '';

before(async () => {
  const host = await place.start();
  const run = await host.client().createRun({ input: 'hello', wait: 20 });
  taskId = run.taskId;
  await host.stop();
});
after(() => place.clear());

function argsOf(text: string): string[] {
  return text.split(' ').map((word) => (word === 'TASK' ? taskId : word));
}

function documentOf({ stdout, stderr, code }: Ended): Record<string, unknown> {
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
  return JSON.parse(stdout) as Record<string, unknown>;
}

function readAll(commands: typeof READING): void {
  for (const [text, field] of commands) {
    test(`${text} prints one document with --json`, async () => {
      const document = documentOf(await place.run([...argsOf(text), '--json']));
      assert.ok(field in document, JSON.stringify(document));
    });
  }
}

/** The last line of stderr, which must be the only one. */
function lineOf(ended: Ended): string {
  assert.equal(ended.stdout, '');
  const lines = ended.stderr.trimEnd().split('\n');
  assert.equal(lines.length, 1, ended.stderr);
  return lines[0] ?? '';
}

describe('on a stopped host', () => {
  readAll([...READING, ...LOCAL]);

  test('status says that it is stopped', async () => {
    const status = documentOf(await place.run(['status', '--json']));
    assert.deepEqual([status['state'], status['url']], ['stopped', null]);
  });

  test('what needs a running host ends with 5 and names start', async () => {
    for (const args of [
      ['chat'],
      ['stop', taskId],
      ['resume', taskId],
      ['budget-reset', taskId],
      ['extend', taskId, 'turns=+1'],
      ['approve', APPROVAL],
      ['admit', OPERATION],
      ['status', '--url', 'http://127.0.0.1:9'],
    ]) {
      const ended = await place.run(args);
      assert.equal(ended.code, 5, args.join(' '));
      assert.match(lineOf(ended), /sekisho start/);
    }
  });

  test('the file of a host that was killed misleads nobody', async (t) => {
    const killed = new Place();
    t.after(() => killed.clear());
    const host = await killed.start();
    host.signal('SIGKILL');
    await host.child.ended;
    assert.match(killed.read('host.json'), /"url"/);
    const status = documentOf(await killed.run(['status', '--json']));
    assert.equal(status['state'], 'stopped');
  });

  test('a folder where nothing ran ends with 5', async (t) => {
    const empty = new Place();
    t.after(() => empty.clear());
    const ended = await empty.run(['tasks']);
    assert.equal(ended.code, 5);
    assert.match(lineOf(ended), /nothing is recorded there yet/);
  });
});

describe('on a running host', () => {
  let host: RunningHost;
  before(async () => {
    host = await place.start();
  });
  after(async () => {
    await host.stop();
  });

  readAll(READING);

  test('people get text, with the work in its own words', async () => {
    for (const [text, words] of [
      ['status', /^host +ready since .*, http:/m],
      ['tasks', /^task_\w+ +completed .* hello$/m],
      ['task TASK', /^request +hello$/m],
      ['why TASK', /“hello” .* was completed/],
      ['outbox', /Hello! I am the rehearsal/],
      ['approvals', /^No approvals\.$/m],
      ['maintenance', /^No maintenance operations\.$/m],
      ['session', /^sess_\w+ +current .* conv_\w+$/m],
      ['usage', /^task_\w+ .* hello$/m],
      ['conversations', /^conv_\w+ +api +main +rehearsal\/rehearsal +idle /m],
      ['keys list', /^local +run read admin/m],
      ['config show', /^model\.provider +"rehearsal" +sekisho\.yaml:1$/m],
    ] as const) {
      const { code, stdout, stderr } = await place.run(argsOf(text));
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, words);
    }
  });

  test('status is found by --url, by SEKISHO_URL and by --data', async () => {
    const key = { SEKISHO_API_KEY: place.read('api-key').trim() };
    for (const [args, env] of [
      [['--url', host.url], key],
      [[], { ...key, SEKISHO_URL: host.url }],
      [['--data', place.data], {}],
      [[], { SEKISHO_DATA: place.data }],
    ] as const) {
      const status = documentOf(await place.run(['status', '--json', ...args], { env }));
      assert.deepEqual([status['state'], status['url']], ['ready', host.url]);
    }
  });

  test('a wrong key ends with 2, an unknown id with 4 and the nearest, a refusal with 3', async () => {
    const wrong = await place.run(['status'], { env: { SEKISHO_API_KEY: 'sk_wrong_wrong_wrong' } });
    assert.equal(wrong.code, 2);
    assert.match(lineOf(wrong), /^unauthorized: /);
    const unknown = await place.run([
      'why',
      `${taskId.slice(0, -1)}${taskId.endsWith('0') ? 1 : 0}`,
    ]);
    assert.equal(unknown.code, 4);
    assert.ok(lineOf(unknown).endsWith(`did you mean ${taskId}?`), unknown.stderr);
    const ended = await place.run(['stop', taskId]);
    assert.equal(ended.code, 3);
    assert.match(lineOf(ended), /^task_ended: /);
    assert.equal((await place.run(['task', UNKNOWN, '--json'])).code, 4);
  });

  test('orders end with 0 when they were carried out, with 3 when refused, with 4 for no such id', async () => {
    const ended = async (text: string): Promise<Ended> => place.run(argsOf(text));
    for (const order of [
      'resume TASK',
      'resume TASK --late',
      'pause TASK',
      'extend TASK turns=+1',
    ]) {
      const refused = await ended(order);
      assert.equal(refused.code, 3, order);
      assert.match(lineOf(refused), /^task_ended: /);
    }
    for (const order of [
      `resume ${UNKNOWN}`,
      `budget-reset ${UNKNOWN}`,
      `approve ${APPROVAL}`,
      `approval ${APPROVAL}`,
      `admit ${OPERATION}`,
      `admit ${OPERATION} --version 3`,
      `maintenance ${OPERATION}`,
      `why ${OPERATION}`,
      `session ${SESSION}`,
    ]) {
      assert.equal((await ended(order)).code, 4, order);
    }
    const { id } = await host.client().createRun({ input: 'hello', wait: 20 });
    const cancelled = await ended(`cancel ${id}`);
    assert.deepEqual([cancelled.code, cancelled.stdout], [0, `${id} had ended: completed.\n`]);
  });

  test('chat answers each line of a pipe and ends with its input', async () => {
    const ended = await place.run(['chat'], { input: 'hello\n/status\n' });
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /^Hello! I am the rehearsal model/m);
    assert.match(ended.stdout, /^The host is ready/m);
    assert.equal((await fetch(`${host.url}/readyz`)).status, 200);
  });
});

describe('a slip in the command line', () => {
  const slips: readonly [args: string, line: RegExp][] = [
    ['statsu', /unknown command 'statsu'; did you mean status\?/],
    ['status --jsno', /unknown option '--jsno'; did you mean --json\?/],
    ['config shwo', /unknown command 'shwo'; did you mean show\?/],
    ['task', /missing required argument 'id'/],
    ['tasks --state actve', /--state takes one of .*did you mean active\?/],
    ['tasks --limit 0', /--limit takes a whole number from 1 to 200/],
    ['logs -n many', /--lines takes a whole number/],
    ['workers --state runing', /--state takes one of ready, .*did you mean running\?/],
    ['maintenance --state blokced', /--state takes one of open, .*did you mean blocked\?/],
    [`admit ${OPERATION} --as compact`, /--as takes handover/],
    [`admit ${OPERATION} --version 0`, /--version takes the version that was seen/],
    ['admit', /missing required argument 'id'/],
    ['session --transcript', /--transcript is of one session/],
    [`resume ${WORKER} --late`, /--late is for a task; a worker has no time of its own/],
    ['approvals --state opne', /--state takes one of open, .*did you mean open\?/],
    ['usage --days 0', /--days takes a whole number from 1 to 92/],
    ['extend task_1', /say what to grant: --turns 20/],
    ['extend task_1 turns=many', /turns takes a whole number above 0/],
    ['extend task_1 trns=+5', /"trns=\+5" is no grant: turns, tokens/],
    ['extend task_1 --turns 5 turns=+5', /turns is granted twice/],
    ['extend task_1 --deadline tomorrow', /deadline takes an addition like \+2d/],
    ['status --url localhost', /--url takes the address of a host/],
  ];
  for (const [args, expected] of slips) {
    test(`${args} ends with 2 and one line`, async () => {
      const ended = await place.run(args.split(' '));
      assert.equal(ended.code, 2);
      assert.match(lineOf(ended), expected);
    });
  }
});

test('--version is the version, and help names every command', async () => {
  assert.equal((await place.run(['--version'])).stdout.trim(), manifest.version);
  const { stdout, code } = await place.run(['--help']);
  assert.equal(code, 0);
  const names =
    'start chat status tasks task why workers approvals approval usage conversations outbox logs ' +
    'stop pause extend approve deny cancel resume budget-reset maintenance session admit config keys';
  for (const name of names.split(' ')) {
    assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
  }
  assert.equal((await place.run([])).stdout, stdout);
  assert.match((await place.run(['start', '--help'])).stdout, /--no-terminal/);
  assert.match(
    (await place.run(['extend', '--help'])).stdout,
    /^ {2}sekisho extend .* turns=\+20/m,
  );
});

test('a shell that lacks the secrets of the host asks it, orders it and reads its records', async (t) => {
  const keyed = new Place(
    'model: { provider: openai-compatible, baseURL: "http://127.0.0.1:9/v1", name: m, apiKey: { env: M_KEY } }\napi: { port: 0 }\n',
  );
  t.after(() => keyed.clear());
  const refused = await keyed.run(['start', '--no-terminal']);
  assert.equal(refused.code, 2);
  assert.match(lineOf(refused), /M_KEY is not set/);
  const host = await keyed.start({ env: { M_KEY: 'model-key-0123456789' } });
  const { taskId: asked } = await host.client().createRun({ input: 'hello' });
  for (const args of [
    ['status'],
    ['tasks'],
    ['why', asked],
    ['approvals'],
    ['logs'],
    ['keys', 'list'],
    ['config', 'show'],
    ['stop', asked],
  ]) {
    const { code, stderr } = await keyed.run(args);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
  }
  assert.equal((await keyed.run(['approve', APPROVAL])).code, 4);
  await host.stop();
  assert.match((await keyed.run(['why', asked])).stdout, /“hello”/);
});

test('config check warns of a window in which no message fits, and a start takes it all the same', async (t) => {
  const model = 'provider: openai-compatible, baseURL: "http://127.0.0.1:9/v1", name: m';
  const tight = new Place(`model: { ${model}, contextWindow: 1000 }\napi: { port: 0 }\n`);
  t.after(() => tight.clear());
  const warned = await tight.run(['config', 'check']);
  assert.equal(warned.code, 0);
  const line =
    /^warning: sekisho\.yaml:1: model\.contextWindow: 1000 tokens are too few .* take (\d+), and 100 are .*; allowed: at least (\d+) /;
  const [, base, least] = line.exec(warned.stdout) ?? [];
  assert.ok(Number(base) > 750, warned.stdout);
  tight.configure(`model: { ${model}, contextWindow: ${least} }\napi: { port: 0 }\n`);
  assert.equal((await tight.run(['config', 'check'])).stdout, 'sekisho.yaml: nothing is wrong.\n');
  tight.configure(`model: { ${model}, contextWindow: ${Number(least) - 5} }\napi: { port: 0 }\n`);
  const host = await tight.start();
  await host.stop();
  assert.match(tight.read('logs/sekisho.log'), /tokens are too few for a message/);
});

test('what is not built yet says so in the table of keys and among the values in force', async () => {
  const keys = (await place.run(['config', 'keys'])).stdout;
  assert.match(keys, /^model\.provider\n.*\n {2}openai .*; google is not built yet; no default$/m);
  const shown = (await place.run(['config', 'show'])).stdout;
  assert.match(shown, /^memory\.enabled +true +default; not built yet, so without effect$/m);
});

test('E-4: a call that waits for a person is shown, approved and then run from the shell', async (t) => {
  const asking = new Place(
    'model: { provider: rehearsal }\napi: { port: 0 }\ntools: { command: { approval: always } }\n',
  );
  t.after(() => asking.clear());
  const host = await asking.start();
  const client = host.client();
  const { id: runId, taskId: asked } = await client.createRun({ input: 'run touch made', wait: 5 });
  const [approval] = (await client.approvals({ state: 'open' })).items;
  const id = approval?.id ?? '';
  const shown = await asking.run(['approval', id]);
  assert.match(shown.stdout, /touch made/);
  assert.match(shown.stdout, new RegExp(`sekisho approve ${id}`));
  assert.match((await asking.run(['status'])).stdout, new RegExp(`\`sekisho approve ${id}\``));
  const paused = await asking.run(['pause', asked]);
  assert.match(paused.stdout, new RegExp(`sekisho resume ${asked}`));
  const approved = await asking.run(['approve', id]);
  assert.deepEqual([approved.code, approved.stderr], [0, '']);
  assert.match(approved.stdout, /is kept and runs once when task_\w+ goes on .*exactly as it was/);
  const kept = await asking.run(['why', asked]);
  assert.match(
    kept.stdout,
    new RegExp(`may run was approved \\(${id}\\); it is kept and runs once`),
  );
  assert.equal((await asking.run(['deny', id])).code, 3);
  const made = join(asking.folder, 'workspace', 'made');
  assert.equal(existsSync(made), false);
  assert.equal((await asking.run(['resume', asked])).code, 0);
  const told: string[] = [];
  for await (const { type } of client.runEvents(runId)) told.push(type);
  assert.equal(told.at(-1), 'run.completed');
  assert.ok(existsSync(made));
  await host.stop();
  const listed = await asking.run(['approvals', '--json']);
  const { items } = documentOf(listed) as { items: { state: string }[] };
  assert.deepEqual(
    items.map(({ state }) => state),
    ['approved'],
  );
});
