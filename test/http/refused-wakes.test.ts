// Every resume and reset that has to be refused, over each door: its code, its words, and every row of the
// store as it was before.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { budgetReset, resume, type ResumeOptions } from '../../src/cli/commands/orders.ts';
import type { ConversationId, MessageId } from '../../src/kernel/ids.ts';
import { everyRow, pass } from '../support/acts.ts';
import { says, taskIn, until } from '../support/host.ts';
import { codeOf, openDoor, type KeyName, type TestDoor } from './door.ts';
import { HELD, INCONCLUSIVE, lateAt, openPlace, putTask, USED_UP } from './history.ts';
import { inShell } from './shell.ts';

/** Tasks of the key `runner`, one of each standing, and where commands are typed. */
interface Ground {
  readonly door: TestDoor;
  readonly here: ConversationId;
  /** Where a turn runs. */
  readonly busy: ConversationId;
  /** Of the key `other`. */
  readonly theirs: ConversationId;
  readonly ids: Readonly<Record<Subject, string>>;
}

type Subject =
  | 'unknown'
  | 'other'
  | 'begin'
  | 'end'
  | 'ended'
  | 'running'
  | 'asking'
  | 'held'
  | 'heldPast'
  | 'heldSpent'
  | 'heldBusy'
  | 'inconclusive'
  | 'usedUp'
  | 'late'
  | 'notLate'
  | 'silent';

async function openGround(context: TestContext): Promise<Ground> {
  const door = await openDoor(context);
  const { model, clock } = door.installation;
  const client = door.client('runner');
  const over = await client.createRun({ input: 'over' });
  await taskIn(door.engine, over.conversationId as ConversationId, 'completed');
  const begun = Promise.withResolvers<void>();
  model.answer = (_request, signal) => {
    begun.resolve();
    return new Promise((end) => signal.addEventListener('abort', () => end(says(''))));
  };
  const running = await client.createRun({ input: 'run on' });
  await begun.promise;
  model.answer = () => says('done');
  const here = await openPlace(door);
  const busy = running.conversationId as ConversationId;
  const twins = ['task_01AAAAAAAAAAQQQQ', 'task_01AAAAAAAAABQQQQ'] as const;
  for (const id of twins) await putTask(door, here, { id, reason: 'no_outcome' });
  return {
    door,
    here,
    busy,
    theirs: (await door.client('other').openConversation({})).id as ConversationId,
    ids: {
      unknown: 'task_7K2M9QX4R1T8WZ3C',
      other: 'exec_7K2M9QX4R1T8WZ3C',
      begin: 'task_01AAAAAAAAA',
      end: 'AQQQQ'.slice(1),
      ended: over.taskId,
      running: running.taskId,
      asking: await putTask(door, here, {
        state: 'waiting',
        reason: 'awaits_answer',
        waitKind: 'answer',
        waitUntil: clock.now() + 1_000_000,
        waitQuestion: 'Which March?',
      }),
      held: await putTask(door, here, HELD),
      heldPast: await putTask(door, here, { ...HELD, deadline: clock.now() - 1 }),
      heldSpent: await putTask(door, here, { ...HELD, turnsUsed: 50 }),
      heldBusy: await putTask(door, busy, HELD),
      inconclusive: await putTask(door, here, INCONCLUSIVE),
      usedUp: await putTask(door, here, USED_UP),
      late: await putTask(door, here, lateAt(clock.now() - 3_600_000)),
      notLate: await putTask(door, here, { reason: 'no_outcome' }),
      silent: await putTask(door, here, { reason: null }),
    },
  };
}

type Order = 'resume' | 'late' | 'reset';

interface Case {
  readonly order: Order;
  readonly of: Subject;
  readonly by: KeyName;
  readonly code: string;
  /** 409 unless it is said. */
  readonly status?: number;
  /** What whoever types it in the conversation reads, and whoever asks the API. */
  readonly detail: RegExp;
  /** Where the chat says it differently: the API hides what a key may not know of, or names a scope. */
  readonly chat?: RegExp;
}

const anAdmin = /Only an admin may do this/;
const scope = /scope admin/;

const CASES: readonly Case[] = [
  ...(['resume', 'late', 'reset'] as const).flatMap((order): readonly Case[] => [
    { order, of: 'unknown', by: 'ops', code: 'not_found', status: 404, detail: /Nothing/ },
    {
      order,
      of: 'other',
      by: 'ops',
      code: 'not_a_task',
      status: 404,
      detail: /exec_7K2M9QX4R1T8WZ3C/,
    },
    {
      order,
      of: 'begin',
      by: 'ops',
      code: 'ambiguous_id',
      detail: /more than one.* `task_01AAAAAAAAA[AB]QQQQ`, `task_01AAAAAAAAA[AB]QQQQ`/,
    },
    {
      order,
      of: 'end',
      by: 'ops',
      code: 'ambiguous_id',
      detail: /more than one.* `task_01AAAAAAAAA[AB]QQQQ`, `task_01AAAAAAAAA[AB]QQQQ`/,
    },
  ]),
  {
    order: 'resume',
    of: 'ended',
    by: 'ops',
    code: 'task_ended',
    detail: /has ended \(completed\)/,
  },
  { order: 'late', of: 'ended', by: 'ops', code: 'task_ended', detail: /has ended \(completed\)/ },
  { order: 'reset', of: 'ended', by: 'ops', code: 'not_budget_blocked', detail: /used-up/ },
  {
    order: 'resume',
    of: 'running',
    by: 'ops',
    code: 'not_allowed_now',
    detail: /while it is active/,
  },
  {
    order: 'late',
    of: 'running',
    by: 'ops',
    code: 'not_allowed_now',
    detail: /while it is active/,
  },
  {
    order: 'reset',
    of: 'running',
    by: 'ops',
    code: 'not_budget_blocked',
    detail: /it is active since/,
  },
  { order: 'resume', of: 'asking', by: 'ops', code: 'not_allowed_now', detail: /reply/i },
  {
    order: 'reset',
    of: 'asking',
    by: 'ops',
    code: 'not_budget_blocked',
    detail: /it is waiting for you since \d\d:\d\d\). To answer it, just reply/,
  },
  {
    order: 'resume',
    of: 'usedUp',
    by: 'ops',
    code: 'not_allowed_now',
    detail: /\/budget-reset task_/,
  },
  {
    order: 'late',
    of: 'notLate',
    by: 'runner',
    code: 'not_allowed_now',
    detail: /\/task-resume task_/,
  },
  {
    order: 'resume',
    of: 'late',
    by: 'runner',
    code: 'not_allowed_now',
    detail: /\/task-resume task_\w+ late/,
  },
  {
    order: 'reset',
    of: 'late',
    by: 'ops',
    code: 'not_budget_blocked',
    detail: /\/task-resume task_\w+ late/,
  },
  {
    order: 'reset',
    of: 'inconclusive',
    by: 'ops',
    code: 'not_budget_blocked',
    detail: /\/task-resume task_/,
  },
  {
    order: 'reset',
    of: 'held',
    by: 'ops',
    code: 'not_budget_blocked',
    detail: /\/task-resume task_/,
  },
  {
    order: 'reset',
    of: 'silent',
    by: 'ops',
    code: 'not_budget_blocked',
    detail: /sekisho doctor --repair/,
  },
  { order: 'resume', of: 'heldPast', by: 'ops', code: 'deadline_passed', detail: /deadline/ },
  { order: 'resume', of: 'heldSpent', by: 'ops', code: 'budget_exhausted', detail: /turns/ },
  { order: 'resume', of: 'heldBusy', by: 'ops', code: 'conversation_busy', detail: /turn/ },
  { order: 'resume', of: 'held', by: 'runner', code: 'forbidden', status: 403, detail: anAdmin },
  {
    order: 'resume',
    of: 'inconclusive',
    by: 'runner',
    code: 'forbidden',
    status: 403,
    detail: anAdmin,
  },
  {
    order: 'reset',
    of: 'usedUp',
    by: 'runner',
    code: 'forbidden',
    status: 403,
    detail: scope,
    chat: anAdmin,
  },
  {
    order: 'resume',
    of: 'held',
    by: 'reader',
    code: 'forbidden',
    status: 403,
    detail: /scope run/,
  },
  ...(['held', 'late', 'notLate'] as const).map((of): Case => {
    const detail = /Nothing/;
    return {
      order: 'resume',
      of,
      by: 'other',
      code: 'not_found',
      status: 404,
      detail,
      chat: /Only/,
    };
  }),
];

const PATH: Readonly<Record<Order, string>> = {
  resume: 'resume',
  late: 'resume',
  reset: 'budget-reset',
};

function titleOf({ order, of, by, code }: Case): string {
  return `${order} of ${of} by ${by}: ${code}`;
}

describe('a resume or a reset that may not be is refused, and no row of the store changes:', () => {
  test('through the API', async (context) => {
    const { door, ids } = await openGround(context);
    const before = await everyRow(door.installation);
    for (const one of CASES) {
      const body = one.order === 'late' ? { late: true } : {};
      const path = `/v1/tasks/${ids[one.of]}/${PATH[one.order]}`;
      const answer = await door.ask('POST', path, { key: one.by, body });
      const found = [answer.status, codeOf(answer)];
      assert.deepEqual(found, [one.status ?? 409, one.code], titleOf(one));
      assert.match(String(answer.json['detail']), one.detail, titleOf(one));
      assert.deepEqual(await everyRow(door.installation), before, titleOf(one));
    }
  });

  test('from the shell', async (context) => {
    const { door, ids } = await openGround(context);
    const before = await everyRow(door.installation);
    for (const one of CASES.filter(({ of, order }) => of !== 'other' || order === 'reset')) {
      const ended = await inShell(context, door, one.by, (options: ResumeOptions) => {
        const id = ids[one.of];
        if (one.order === 'reset') return budgetReset(id, options);
        return resume(id, { ...options, late: one.order === 'late' });
      });
      const where = `${titleOf(one)}: ${ended.text}`;
      assert.equal(ended.code, one.status === 404 ? 4 : 3, where);
      assert.ok(ended.text.startsWith(`${one.code}: `), where);
      // Of the chat there; a shell is in no conversation.
      assert.doesNotMatch(ended.text, /`\/(?!stop`)/, where);
      assert.deepEqual(await everyRow(door.installation), before, where);
    }
  });

  test('W-4: in a conversation', async (context) => {
    const ground = await openGround(context);
    const { door, ids } = ground;
    for (const one of CASES.filter(({ by }) => by !== 'reader')) {
      const before = await workOf(door);
      const said = await typed(ground, one, `${COMMAND[one.order]} ${ids[one.of]}`);
      assert.match(said, one.chat ?? one.detail, titleOf(one));
      assert.deepEqual(await workOf(door), before, titleOf(one));
    }
  });

  test('W-4: in words that are not typed as a command', async (context) => {
    const { door, here, ids } = await openGround(context);
    const client = door.client();
    const task = ids['usedUp'];
    const standing = await client.task(task);
    for (const text of [
      `> /budget-reset ${task}`,
      `\`/budget-reset ${task}\``,
      `He wrote:\n/budget-reset ${task}`,
    ]) {
      const { messageId } = await client.postMessage(here, { text });
      // It names the task, so it is kept for it, and nothing more.
      await until(door.engine, here, async () => (await client.message(messageId)).taskId === task);
      await pass();
      assert.deepEqual(await client.task(task), standing, text);
    }
    for (const input of [`/budget-reset ${task}`, `/task-resume ${ids['held']}`]) {
      const { status } = await client.createRun({ input, wait: 20 });
      assert.equal(status, 'completed', input);
    }
    assert.deepEqual(await client.task(task), standing);
    assert.equal((await client.task(ids['held'])).enrollment, 'held-legacy');
  });
});

const COMMAND: Readonly<Record<Order, string>> = {
  resume: '/task-resume',
  late: '/task-resume',
  reset: '/budget-reset',
};

/** What a command is kept in, and its answer; everything else is the work. */
const SPEECH = new Set(['message', 'outbox', 'event', 'conversation']);

async function workOf({ installation }: TestDoor): Promise<object> {
  const rows = Object.entries(await everyRow(installation));
  return Object.fromEntries(rows.filter(([table]) => !SPEECH.has(table)));
}

/** Types a command and gives its answer, after a look at the events that it left. */
async function typed(
  { door, here, busy, theirs }: Ground,
  one: Case,
  text: string,
): Promise<string> {
  const place = one.of === 'heldBusy' ? busy : one.by === 'other' ? theirs : here;
  const seen = (await door.installation.rows('event')).length;
  const late = one.order === 'late' ? ' late' : '';
  const { messageId } = await door.client(one.by).postMessage(place, { text: `${text}${late}` });
  const answer = await answered(door, place, messageId as MessageId);
  const left = (await door.installation.rows('event')).slice(seen).map(({ type }) => type);
  assert.deepEqual(new Set(left), new Set(['command.answered', 'message.accepted']), titleOf(one));
  return answer;
}

async function answered(
  door: TestDoor,
  place: ConversationId,
  messageId: MessageId,
): Promise<string> {
  const client = door.client();
  return until(door.engine, place, async () => {
    const { state, answer } = await client.message(messageId);
    return state === 'done' ? (answer ?? '') : undefined;
  });
}
