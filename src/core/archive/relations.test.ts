import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  approvalRow,
  conversationRow,
  executionRow,
  idOf,
  messageRow,
  outboxRow,
  receiptRow,
  runRow,
  stepRow,
  taskRow,
  turnRow,
} from '../../testing/store-rows.ts';
import { operationRow } from '../../testing/store-rows-maintenance.ts';
import { HOST_CHANNELS } from '../inbox/record.ts';
import type { Archived } from './record.ts';
import { factsOf, readFacts, relationProblem, type Look } from './relations.ts';

const TASK = idOf('task', 1);
const TURN = idOf('turn', 1);
const STEP = idOf('event', 3);
const OPERATION = idOf('operation', 1);

/** Looks for what stood before, and for what the host made of this approval or wake. */
function lookIn(before: readonly Archived[], made: Readonly<Record<string, number>> = {}): Look {
  return {
    record: (kind, id) => {
      const found = before.find(
        (one) => one.kind === kind && 'id' in one.record && one.record.id === id,
      );
      return found === undefined ? undefined : readFacts(kind, factsOf(found));
    },
    made: (channel, externalId) => made[`${channel} ${externalId}`],
  };
}

type Given = readonly Archived[] | Look;

function told(one: Archived, before: Given = []): string | undefined {
  return relationProblem(one, 'record' in before ? before : lookIn(before));
}

const conversation = (over: Parameters<typeof conversationRow>[0] = {}): Archived => {
  return {
    kind: 'conversation',
    record: conversationRow({ turnId: TURN, token: 3, seq: 40, ...over }),
  };
};
const task = (over: Parameters<typeof taskRow>[0] = {}): Archived => {
  return { kind: 'task', record: taskRow({ version: 4, ...over }) };
};
const turn = (over: Parameters<typeof turnRow>[0] = {}): Archived => {
  return { kind: 'turn', record: turnRow(over) };
};
const step = (over: Parameters<typeof stepRow>[0] = {}): Archived => {
  return { kind: 'step', record: stepRow(over) };
};
const message = (over: Parameters<typeof messageRow>[0] = {}): Archived => {
  return { kind: 'message', record: messageRow(over) };
};
const approval = (over: Parameters<typeof approvalRow>[0] = {}): Archived => {
  return { kind: 'approval', record: approvalRow(over) };
};
const operation = (over: Parameters<typeof operationRow>[0] = {}): Archived => {
  return { kind: 'operation', record: operationRow(over) };
};
const run = (over: Parameters<typeof runRow>[0] = {}): Archived => {
  return { kind: 'run', record: runRow(over) };
};

describe('of what stood before a record', () => {
  test('only what others are held against is remembered', () => {
    assert.deepEqual(readFacts('task', factsOf(task())), {
      state: 'active',
      version: 4,
      mandateAuthority: 'admin',
    });
    assert.equal(factsOf({ kind: 'receipt', record: receiptRow() }), '');
    assert.equal(factsOf(approval()), '{}');
  });

  test('what is not there is asked for elsewhere', () => {
    const alone = [run(), turn(), step(), message({ turnId: TURN }), approval(), operation()];
    for (const one of [...alone, conversation(), task()])
      assert.equal(told(one), undefined, one.kind);
  });
});

describe('a record of a file fits those before it:', () => {
  test('A-2 a run is open with its task, and its records are of that', () => {
    const ended = 'The run is open and its task has ended.';
    assert.equal(told(run(), [task()]), undefined);
    assert.equal(told(run(), [task({ state: 'failed' })]), ended);
    assert.equal(told(run({ state: 'failed' }), [task({ state: 'failed' })]), undefined);
    const runId = idOf('run', 1);
    const of = (taskId: typeof TASK | null): string | undefined =>
      told(message({ runId, taskId }), [run()]);
    assert.equal(of(TASK), undefined);
    assert.equal(of(null), undefined);
    assert.equal(of(idOf('task', 2)), `It is of the run ${runId}, whose task is another.`);
  });

  test('V3 V19 an open turn is that of its conversation, under a token that was given', () => {
    const open = 'The turn is open and its conversation has it not.';
    const over = 'The turn has ended and its conversation still has it.';
    const ended = turn({ state: 'ended' });
    assert.equal(told(turn({ token: 3 }), [conversation()]), undefined);
    assert.equal(told(turn(), [conversation({ turnId: null })]), open);
    assert.equal(told(turn({ state: 'stopping' }), [conversation({ turnId: null })]), open);
    assert.equal(told(ended, [conversation({ turnId: null })]), undefined);
    assert.equal(told(ended, [conversation()]), over);
    assert.equal(
      told(turn({ token: 4 }), [conversation()]),
      'The token of the turn is above the 3 of its conversation.',
    );
  });

  test('V2 a message is claimed by a turn of its task', () => {
    const other = 'The message was claimed by a turn of another task.';
    const claimed = { turnId: TURN, taskId: TASK };
    assert.equal(told(message(claimed), [turn(), task()]), undefined);
    assert.equal(told(message({ ...claimed, taskId: idOf('task', 2) }), [turn()]), other);
    assert.equal(told(message({ turnId: TURN }), [turn()]), other);
  });

  test('X-4 what the host made has no more authority than the mandate of its task', () => {
    const more = 'The message is generated and has more authority than the mandate of its task.';
    const made = { kind: 'generated', taskId: TASK, channel: HOST_CHANNELS.approval } as const;
    const own = [task({ mandateAuthority: 'own' })];
    assert.equal(told(message({ ...made, authority: 'admin' }), own), more);
    assert.equal(told(message({ ...made, authority: 'own' }), own), undefined);
    assert.equal(told(message({ ...made, authority: 'admin' }), [task()]), undefined);
    assert.equal(told(message({ taskId: TASK, authority: 'admin' }), own), undefined, 'a person');
  });

  test('V3 a step is of its turn, behind its beginning, and finished when that has ended', () => {
    assert.equal(told(step(), [turn()]), undefined);
    assert.equal(
      told(step({ taskId: idOf('task', 2) }), [turn()]),
      'The step is of a turn of another task.',
    );
    const open = 'The step is not finished and its turn has ended.';
    assert.equal(told(step(), [turn({ state: 'ended' })]), open);
    assert.equal(told(step({ state: 'cut' }), [turn({ state: 'ended' })]), undefined);
    const behind = 'The seq of the step is not behind its turn.';
    assert.equal(told(step(), [turn({ firstSeq: 3 })]), behind);
    assert.equal(told(step(), [turn({ firstSeq: 4 })]), behind);
  });

  test('E-4 an approval is of its step, and open only while nothing has answered it', () => {
    const asked = [step(), task()];
    const other = 'The approval is of a step of another turn.';
    assert.equal(told(approval(), asked), undefined);
    assert.equal(told(approval({ taskId: idOf('task', 2) }), asked), other);
    assert.equal(told(approval({ turnId: idOf('turn', 2) }), asked), other);
    const over = [step(), task({ state: 'failed' })];
    assert.equal(told(approval(), over), 'The approval is open and its task has ended.');
    assert.equal(told(approval({ state: 'denied' }), over), undefined);
    const { id } = approvalRow();
    for (const channel of ['approval', 'wake'] as const) {
      const made = lookIn(asked, { [`${channel} ${id}`]: 17 });
      const says = 'The approval is open and the message of line 17 says what was answered.';
      assert.equal(told(approval(), made), says);
      assert.equal(told(approval({ state: 'approved' }), made), undefined);
    }
  });
});

describe('I-1 O-1 a name that the host derives from a cause', () => {
  const key = (name: string): string | undefined =>
    told({ kind: 'outbox', record: outboxRow({ key: name }) }, [
      task(),
      operation({ version: 4, epoch: 2 }),
      turn(),
      run(),
      approval(),
      step({ state: 'uncertain', id: STEP }),
      step({ state: 'cut', id: idOf('event', 4), seq: 4 }),
      message({ id: idOf('message', 1), kind: 'command', state: 'done' }),
      message({ id: idOf('message', 2), seq: 2, taskId: TASK }),
      message({ id: idOf('message', 3), seq: 3, kind: 'command' }),
      message({ id: idOf('message', 4), seq: 4, state: 'done' }),
    ]);
  const wrong = (what: string): string => `The key of the outbox ${what}.`;

  test('bears out its cause', () => {
    const sound = [`notice:${TASK}:4`, `notice:${TASK}:1`, `notice:${OPERATION}:4`];
    const others = [`kept:${OPERATION}:2`, `kept:${OPERATION}:1`, `uncertain:${STEP}`];
    const of = ['approval', 'run'].map((kind) => `${kind}:${idOf(kind as 'approval' | 'run', 1)}`);
    const turns = [`reply:${TURN}`, `goes_on:${TURN}`, `answer:${idOf('message', 1)}`];
    const free = ['reply:5', `unknown:${TASK}:9`, `reply:${TASK}`, `kept:${idOf('message', 2)}`];
    for (const name of [...sound, ...others, ...of, ...turns, ...free, ''])
      assert.equal(key(name), undefined, name);
  });

  test('names nothing that is not there', () => {
    for (const [name, kind] of [
      ['notice', 'task'],
      ['notice', 'operation'],
      ['kept', 'operation'],
      ['approval', 'approval'],
      ['goes_on', 'turn'],
      ['reply', 'turn'],
      ['run', 'run'],
    ] as const) {
      const id = idOf(kind, 9);
      assert.equal(
        key(`${name}:${id}:1`),
        wrong(`names the ${kind} ${id}, which is not in the file`),
      );
    }
  });

  test('names no version and no epoch that has not been', () => {
    for (const version of ['5', '0', '04', '1.0', '', 'x', '1:1', '1e0', '12345678901234567']) {
      assert.equal(
        key(`notice:${TASK}:${version}`),
        wrong('names a version above the 4 of its task'),
        version,
      );
      assert.equal(
        key(`notice:${OPERATION}:${version}`),
        wrong('names a version above the 4 of its operation'),
      );
    }
    for (const epoch of ['3', '0', '02', ''])
      assert.equal(
        key(`kept:${OPERATION}:${epoch}`),
        wrong('names an epoch above the 2 of its operation'),
      );
  });

  test('names only what has come to that', () => {
    const uncertain = wrong('names a step whose outcome is not uncertain');
    assert.equal(key(`uncertain:${idOf('event', 4)}`), uncertain);
    assert.equal(key(`uncertain:${idOf('event', 9)}`), uncertain);
    for (const number of [2, 3, 4, 9])
      assert.equal(
        key(`answer:${idOf('message', number)}`),
        wrong('names no command that was answered'),
      );
    for (const number of [1, 9])
      assert.equal(
        key(`kept:${idOf('message', number)}`),
        wrong('names no message that was kept for a task'),
      );
  });

  test('of a message that the host made is of its own task, at a version that it has had', () => {
    const made = (externalId: string, channel: string = HOST_CHANNELS.wake): string | undefined =>
      told(message({ kind: 'generated', authority: 'own', taskId: TASK, channel, externalId }), [
        task(),
      ]);
    const says = (what: string): string => `The externalId of the message ${what}.`;
    const { wake, return: back, scout, recovery, approval: answered } = HOST_CHANNELS;
    for (const channel of [wake, back, scout, recovery]) {
      assert.equal(made(`${TASK}:4`, channel), undefined);
      assert.equal(
        made(`${TASK}:5`, channel),
        says('names a version above the 4 of its task'),
        channel,
      );
    }
    assert.equal(made(`${idOf('task', 2)}:1`), says('names another task than its own'));
    assert.equal(made(`${TASK}:5`, answered), undefined, 'it names its approval');
    assert.equal(made(idOf('approval', 1)), undefined);
    assert.equal(made(''), undefined);
  });
});

describe('a receipt of a file', () => {
  const receipt = (subjectId: string, outcome: object = {}): string | undefined =>
    told({ kind: 'receipt', record: receiptRow({ subjectId, outcome: JSON.stringify(outcome) }) }, [
      task(),
      approval(),
      operation(),
      { kind: 'execution', record: executionRow() },
    ]);

  test('is about something that is in it', () => {
    for (const kind of ['task', 'approval', 'execution', 'operation'] as const) {
      assert.equal(receipt(idOf(kind, 1)), undefined);
      const id = idOf(kind, 9);
      assert.equal(receipt(id), `It is about the ${kind} ${id}, which is not in the file.`);
    }
    assert.equal(receipt('something else'), undefined);
  });

  test('says an outcome that its subject could have', () => {
    assert.equal(receipt(TASK, { outcome: { state: 'stopped', other: 5 } }), undefined);
    assert.equal(receipt(TASK, { outcome: 'stopped' }), undefined);
    assert.equal(receipt(TASK, { state: 'odd' }), undefined);
    assert.match(
      receipt(TASK, { outcome: { version: 3, state: 'odd' } }) ?? '',
      /^The state in the outcome of the receipt has to be one of .*\.$/,
    );
  });
});
