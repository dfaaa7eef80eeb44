// One life of a host whose wall clock is set while it runs: `node test/crash/clock-jumps.ts --round N`.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../../src/testing/model-server.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';
import { startHost, type HostProcess } from './host-process.ts';

const LIBRARY = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`;
/** Without the library no clock can be set but that of the whole machine. */
export const canSetClock = existsSync(LIBRARY);

const HOUR = 3_600;
const DAY = 24 * HOUR;

interface Kind {
  readonly name: string;
  /** In seconds; null where the clock passes a change of its zone instead. */
  readonly jump: number | null;
  /** Where the wall clock stands at the start. */
  readonly from?: string;
}

const KINDS: readonly Kind[] = [
  { name: 'two days on', jump: 2 * DAY },
  { name: 'two days back', jump: -2 * DAY },
  { name: 'ten years on', jump: 3_652 * DAY },
  { name: 'ten years back', jump: -3_652 * DAY },
  { name: 'an hour on', jump: HOUR - 60 },
  { name: 'an hour back', jump: -HOUR + 60 },
  { name: 'a second on', jump: 1 },
  { name: 'a second back', jump: -1 },
  { name: 'over an hour on', jump: HOUR + 60 },
  { name: 'over an hour back', jump: -HOUR - 60 },
  { name: 'spring', jump: null, from: '2027-03-28T00:59:57Z' },
  { name: 'autumn', jump: null, from: '2026-10-25T00:59:57Z' },
];

/** What ends the doubt: the clock is set right again, an admin confirms it, or the host is killed and starts. */
const ENDS = ['back', 'confirmed', 'killed'] as const;

export interface JumpTally {
  readonly jumps: number;
  readonly doubts: number;
  readonly ends: number;
  readonly waits: number;
  readonly expired: number;
}

/** What a clock that is believed where it stands has let pass: an approval's day, or a task's week as well. */
type Passed = 'nothing' | 'approval' | 'deadline';

/** A wait that is shorter than the doubt lasts here, and one that no jump of a trusted clock reaches. */
const SHORT_SECONDS = 4;
const LONG_SECONDS = 3 * HOUR;

interface Wait {
  readonly taskId: string;
  readonly until: number;
}

class Life {
  readonly folder = mkdtempSync(join(tmpdir(), 'sekisho-clock-'));
  readonly base: number;
  readonly #url: string;
  host!: HostProcess;
  distrusted = 0;
  trusted = 0;

  constructor(url: string, base: number) {
    this.#url = url;
    this.base = base;
  }

  get client(): HostProcess['client'] {
    return this.host.client;
  }

  async start(): Promise<void> {
    mkdirSync(join(this.folder, 'workspace'), { recursive: true });
    writeFileSync(join(this.folder, 'sekisho.yaml'), config(this.#url));
    this.host = await startHost(this.folder, [], {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: join(this.folder, 'clock'),
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
      TZ: 'Europe/Berlin',
    });
  }

  /** Sets the wall clock so many seconds from where it would stand. */
  set(seconds: number): void {
    const offset = this.base + seconds;
    writeFileSync(join(this.folder, 'clock.new'), `${offset < 0 ? '' : '+'}${offset}`);
    renameSync(join(this.folder, 'clock.new'), join(this.folder, 'clock'));
  }

  async until(isSo: () => Promise<boolean>, what: string): Promise<void> {
    for (const since = performance.now(); !(await isSo()); await pause(50))
      assert.ok(performance.now() - since < 20_000, `for 20 s it was not so that ${what}`);
  }

  async isTrusted(): Promise<boolean> {
    return (await this.client.status()).clock.trusted;
  }

  async doubted(): Promise<void> {
    await this.until(async () => !(await this.isTrusted()), 'the clock is doubted');
    this.distrusted += 1;
  }

  async confirm(): Promise<void> {
    await this.client.confirmClock();
    assert.ok(await this.isTrusted());
    this.trusted += 1;
  }

  async say(room: string, text: string): Promise<string> {
    const { id } = await this.client.openConversation({ channel: 'terminal', address: room });
    return (await this.client.postMessage(id, { text })).messageId;
  }

  async answered(messageId: string): Promise<void> {
    const isDone = async (): Promise<boolean> =>
      (await this.client.message(messageId)).state === 'done';
    await this.until(isDone, `${messageId} is answered`);
  }

  async state({ taskId }: Pick<Wait, 'taskId'>): Promise<string> {
    return (await this.client.task(taskId)).state;
  }

  async stands(wait: Pick<Wait, 'taskId'>, state: string): Promise<void> {
    const isSo = async (): Promise<boolean> => (await this.state(wait)) === state;
    await this.until(isSo, `the task ${wait.taskId} is ${state}`);
  }

  async waiting(room: string, text: string): Promise<Wait> {
    const messageId = await this.say(room, text);
    let found: Wait | undefined;
    const isWaiting = async (): Promise<boolean> => {
      const { taskId } = await this.client.message(messageId);
      if (taskId === null) return false;
      const { state, waitsFor } = await this.client.task(taskId);
      if (state !== 'waiting') return false;
      found = { taskId, until: Date.parse(waitsFor?.until ?? '') };
      return true;
    };
    await this.until(isWaiting, `“${text}” waits`);
    assert.ok(found !== undefined);
    return found;
  }
}

interface Waits {
  readonly short: Wait;
  readonly long: Wait;
  readonly approval: Wait;
}

/** Nothing ends early, nothing begins twice, every wait ends, and the doubt is told once. */
export async function clockRound(seed: number): Promise<JumpTally> {
  const kind = KINDS[(seed - 1) % KINDS.length] ?? { name: 'none', jump: 0 };
  const end = seededRandom(seed, 'clock').pick(ENDS);
  const server = await startModelServer(answerOf, { record: 'none' });
  const now = Math.floor(Date.now() / 1_000);
  const life = new Life(
    server.url,
    kind.from === undefined ? 0 : Date.parse(kind.from) / 1_000 - now,
  );
  try {
    life.set(0);
    await life.start();
    const waits = await begin(life);
    const passed = kind.jump === null ? 'nothing' : await jump(life, { kind, end, waits });
    await goOn(life, waits, passed);
    assert.equal(await life.host.end(), 0);
    check(life, waits, { passed, isJumped: kind.jump !== null });
    const { distrusted: doubts, trusted: ends } = life;
    return {
      jumps: kind.jump === null ? 0 : 1,
      doubts,
      ends,
      waits: 2,
      expired: passed === 'nothing' ? 0 : 1,
    };
  } finally {
    await life.host.kill();
    await server.close();
    rmSync(life.folder, { recursive: true, force: true });
  }
}

async function begin(life: Life): Promise<Waits> {
  const [approval, long] = await Promise.all([
    life.waiting('approval', 'job 1: run'),
    life.waiting('long', `job 2: wait ${LONG_SECONDS}`),
  ]);
  await life.answered(await life.say('lane', 'job 3: answer'));
  return { approval, long, short: await life.waiting('short', `job 4: wait ${SHORT_SECONDS}`) };
}

async function jump(
  life: Life,
  {
    kind,
    end,
    waits,
  }: { readonly kind: Kind; readonly end: (typeof ENDS)[number]; readonly waits: Waits },
): Promise<Passed> {
  const seconds = kind.jump ?? 0;
  life.set(seconds);
  const isFar = Math.abs(seconds) > HOUR;
  if (isFar) await life.doubted();
  else assert.ok(await life.isTrusted(), `a clock is believed that was set ${kind.name}`);
  // Whatever the clock says, a person is answered.
  await life.answered(await life.say('lane', 'job 5: answer'));
  if (!isFar) return 'nothing';
  await pause((SHORT_SECONDS + 1) * 1_000);
  await nothingEnds(life, waits);
  return endDoubt(life, seconds, end);
}

async function nothingEnds(life: Life, { short, long, approval }: Waits): Promise<void> {
  assert.equal(await life.isTrusted(), false);
  for (const wait of [short, long, approval]) assert.equal(await life.state(wait), 'waiting');
  const { items } = await life.client.approvals({ state: 'open' });
  assert.equal(items.length, 1, 'the approval must be open while the clock is doubted');
}

async function endDoubt(life: Life, seconds: number, end: (typeof ENDS)[number]): Promise<Passed> {
  if (end === 'back') {
    life.set(0);
    await life.until(() => life.isTrusted(), 'a clock that is set right is believed');
    life.trusted += 1;
    return 'nothing';
  }
  if (end === 'killed') {
    await life.host.kill();
    await life.start();
    if (await life.isTrusted()) assert.ok(seconds > 0, 'it stands before the last commit');
    else life.distrusted += 1;
  }
  if (!(await life.isTrusted())) await life.confirm();
  if (seconds < DAY) return 'nothing';
  return seconds < 7 * DAY ? 'approval' : 'deadline';
}

/** With the clock where both waits have ended, and believed there, both tasks go on unless their time is over. */
async function goOn(life: Life, { short, long, approval }: Waits, passed: Passed): Promise<void> {
  if (passed === 'nothing') {
    life.set(LONG_SECONDS + 2 * HOUR);
    await life.doubted();
    await life.confirm();
    const { items } = await life.client.approvals({ state: 'open' });
    assert.equal(items.length, 1);
    for (const { id } of items) await life.client.answerApproval(id, { decision: 'approve' });
  }
  const end = passed === 'deadline' ? 'expired' : 'completed';
  await life.stands(short, end);
  await life.stands(long, end);
  await life.stands(approval, passed === 'approval' ? 'blocked' : end);
  await life.answered(await life.say('lane', 'job 6: answer'));
}

/** What the store holds of that life, once the host has ended. */
function check(
  life: Life,
  { short, long }: Waits,
  { passed, isJumped }: { readonly passed: Passed; readonly isJumped: boolean },
): void {
  const db = new DatabaseSync(join(life.folder, 'data/sekisho.db'), { readOnly: true });
  const all = (sql: string, ...given: string[]): Record<string, unknown>[] =>
    db.prepare(sql).all(...given);
  const words = "select text from outbox where kind = 'reply' and conversation_id";
  const lane = `${words} = (select id from conversation where address = 'lane') order by seq`;
  assert.deepEqual(
    all(lane).map(({ text }) => text),
    ['done 3', ...(isJumped ? ['done 5'] : []), 'done 6'],
  );
  const replies = all("select text from outbox where kind = 'reply'").map(({ text }) => text);
  assert.equal(new Set(replies).size, replies.length, 'something was answered twice');
  for (const { taskId, until } of [short, long]) {
    const turns = all('select started_at from turn where task_id = ? order by first_seq', taskId);
    assert.equal(turns.length, passed === 'deadline' ? 1 : 2, `${taskId} went on once`);
    if (passed === 'deadline') continue;
    const begun = Number(turns[1]?.['started_at']);
    assert.ok(begun >= until, `${taskId} went on ${until - begun} ms before its wait had ended`);
  }
  const told = (code: string): number => all('select id from outbox where code = ?', code).length;
  assert.deepEqual(
    [told('clock_distrusted'), told('clock_trusted')],
    [life.distrusted, life.trusted],
    'each doubt and its end is told once',
  );
  db.close();
  const ledger = join(life.folder, 'workspace/ledger.txt');
  const ran = existsSync(ledger) ? readFileSync(ledger, 'utf8') : '';
  assert.equal(ran, passed === 'nothing' ? 'ran\n' : '');
}

function config(url: string): string {
  return [
    'data: ./data',
    'workspace: ./workspace',
    'api: { port: 0 }',
    'tick: { seconds: 1 }',
    'tools: { command: { approval: always } }',
    `model: { provider: openai-compatible, baseURL: '${url}', name: scripted, contextWindow: 900000 }`,
    '',
  ].join('\n');
}

/** Each conversation has jobs of one sort: what a job asks for is done first, and then it is answered. */
function answerOf({ body }: RecordedRequest): ModelAnswer {
  const said = JSON.stringify(body['messages']);
  const [, number = '', order = '', seconds = '0'] =
    [...said.matchAll(/job (\d+): (\w+) ?(\d*)/g)].at(-1) ?? [];
  const isDone = said.includes('"role":"tool"');
  if (order === 'wait' && !isDone)
    return callsTool('task_wait', { for: 'instant', seconds: Number(seconds) });
  if (order === 'run' && !isDone)
    return callsTool('command', { command: 'echo ran >> ledger.txt' });
  return says(`done ${number}`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { round: { type: 'string', default: '1' } } });
  process.stdout.write(`${JSON.stringify(await clockRound(Number(values.round)))}\n`);
}
