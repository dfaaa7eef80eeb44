// How SQLite finds what is asked of a grown store.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalogue } from '../../src/adapters/store/catalogue.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import { pick } from '../../src/adapters/store/statement.ts';
import { ID_PREFIX, idBody } from '../../src/kernel/ids.ts';

const PARTS = {
  clock: { now: () => 1 },
  ids: { next: (kind: keyof typeof ID_PREFIX) => `${ID_PREFIX[kind]}${idBody(0, 1)}` as never },
};

describe('what is due is found by an index', () => {
  /** Small tables, and searches that a person asks for now and then. */
  const MAY_SCAN = new Set(['host.list', 'limiter.list', 'task.nearest']);

  /** A search, or a walk along an index that stops at the limit. */
  const INDEXED = /^(?!SCAN )|^SCAN (found|batch|CONSTANT ROW)\b|USING (COVERING )?INDEX/;

  test('V21: no read looks through a whole table of records', async () => {
    const store = openSqlite({ path: ':memory:', ...PARTS });
    let looked = 0;
    for (const prepared of Object.values(catalogue('sqlite').reads)) {
      const statements = [prepared.statement, ...prepared.cases.map((one) => one.statement)];
      for (const { sql } of statements) {
        looked += 1;
        const plan = await store.inspect(`explain query plan ${sql.replaceAll('?', "'1'")}`);
        const steps = plan.map((row) => String(row['detail']));
        const scans = steps.filter((step) => !INDEXED.test(step));
        if (!MAY_SCAN.has(prepared.name)) assert.deepEqual(scans, [], prepared.name);
      }
    }
    assert.ok(looked > 90, `${looked} statements`);
    await store.close();
  });

  for (const [name, index] of [
    ['message.claimable', 'message_open'],
    ['message.openOfTask', 'message_open'],
    ['message.openCommands', 'message_command'],
    ['message.claimedAfter', 'message_claimed'],
    ['message.ofTurn', 'message_claimed'],
    ['inbox.due', 'message_waiting'],
    ['task.openOf', 'task_open'],
    ['task.open', 'task_open'],
    ['turn.openOf', 'turn_open'],
    ['turn.openElsewhere', 'turn_open'],
    ['event.ofTask', 'event_of_task'],
    ['message.unbound', 'message_open'],
    ['message.ofSession', 'message_claimed'],
    ['task.due', 'task_due'],
    ['task.nextDue', 'task_due'],
    ['task.waitingFor', 'task_waiting'],
    ['approval.openOf', 'approval_open'],
    ['approval.openOfTask', 'approval_open_of_task'],
    ['approval.due', 'approval_due'],
    ['approval.nextDue', 'approval_due'],
    ['step.callsOf', 'turn_of_conversation'],
    ['step.callsOf', 'event_of_task'],
    ['usage.ofRange', 'sqlite_autoindex_step_1'],
    ['usage.byTask', 'sqlite_autoindex_step_1'],
    ['usage.ofMaintenance', 'sqlite_autoindex_operation_1'],
    ['conversation.newestRead', 'conversation_read'],
    ['task.assessable', 'task_assessable'],
    ['task.assessable', 'event_of_task'],
    ['task.assessable', 'message_claimed'],
    ['task.nextAssessment', 'task_assessable'],
    ['task.granted', 'task_granted'],
    ['task.silent', 'task_silent'],
    ['recovery.standing', 'task_assessable'],
    ['recovery.standing', 'COVERING INDEX task_not_current'],
    ['report.tasks', 'task_reported'],
    ['host.lostSince', 'host_lost'],
    ['boundary.tasks', 'task_unmarked'],
    ['boundary.conversations', 'COVERING INDEX task_unmarked'],
    ['boundary.messages', 'message_open'],
    ['boundary.turns', 'COVERING INDEX turn_open'],
    ['boundary.runs', 'run_of_task'],
    ['boundary.workers', 'execution_of_task'],
    ['boundary.unowned', 'execution_unmarked'],
    ['boundary.owners', 'execution_unmarked'],
    ['execution.ofTask', 'execution_of_task'],
    ['execution.runningElsewhere', 'execution_running'],
    ['operation.newestOf', 'operation_of_conversation'],
    ['operation.nextDue', 'operation_due'],
    ['operation.standing', 'COVERING INDEX operation_open'],
    ['session.list', 'session_of_conversation'],
    [
      'step.ofSession',
      'turn_of_conversation \\(conversation_id=\\? AND first_seq>\\? AND first_seq<\\?\\)',
    ],
    [
      'step.before',
      'turn_of_conversation \\(conversation_id=\\? AND first_seq>\\? AND first_seq<\\?\\)',
    ],
    ['message.newestSaid', 'message_claimed'],
    ['run.openOf', 'task_open'],
    ['run.openOf', 'run_of_task'],
    ['outbox.byKey', 'sqlite_autoindex_outbox_3'],
  ] as const) {
    test(`${name} uses ${index}`, async () => {
      const store = openSqlite({ path: ':memory:', ...PARTS });
      const { sql } = catalogue('sqlite').reads[name].statement;
      const plan = await store.inspect(`explain query plan ${sql.replaceAll('?', "'1'")}`);
      const steps = plan.map((row) => String(row['detail'])).join('\n');
      assert.match(steps, new RegExp(`${index}(?!\\w)`));
      await store.close();
    });
  }

  for (const [name, args, index] of [
    ['task.list', { enrollment: 'held-legacy' }, 'task_not_current (enrollment=? AND id<?)'],
    ['task.list', { enrollment: 'unmarked' }, 'task_not_current (enrollment=? AND id<?)'],
    ['outbox.list', { state: 'uncertain' }, 'outbox_not_delivered (state=? AND id<?)'],
    [
      'execution.list',
      { enrollment: 'held-legacy' },
      'execution_not_current (enrollment=? AND id<?)',
    ],
    ['execution.list', { state: 'running' }, 'execution_not_completed (state=? AND id<?)'],
    ['message.claimable', { generatedSince: 1 }, 'message_open (conversation_id=? AND state=?)'],
    ['inbox.due', { generatedSince: 1 }, 'message_waiting'],
    ['operation.due', {}, 'operation_due (<expr><?)'],
    ['operation.nextDue', {}, 'operation_due'],
    ['operation.tried', {}, 'operation_tried'],
    ['conversation.fenced', {}, 'conversation_fenced'],
    ['operation.list', {}, 'sqlite_autoindex_operation_1 (id<?)'],
    ['operation.list', { state: 'open' }, 'operation_open (id<?)'],
    ['operation.list', { state: 'blocked' }, 'operation_open (id<?)'],
    ['operation.list', { state: 'dropped' }, 'operation_dropped (id<?)'],
    [
      'operation.list',
      { conversationId: 'conv_' },
      'operation_of_conversation (conversation_id=? AND id<?)',
    ],
    ['session.list', {}, 'session_of_conversation (conversation_id=? AND id<?)'],
    ['task.nextAssessment', {}, 'task_assessable'],
  ] as const) {
    test(`${name} of ${JSON.stringify(args)} walks ${index} and sorts nothing`, async () => {
      const store = openSqlite({ path: ':memory:', ...PARTS });
      const any = { state: '', enrollment: '', conversationId: '', generatedSince: 0 };
      const { sql } = pick(catalogue('sqlite').reads[name], { ...any, ...args });
      const plan = await store.inspect(`explain query plan ${sql.replaceAll('?', "'1'")}`);
      const steps = plan.map((row) => String(row['detail'])).join('\n');
      assert.ok(steps.includes(index), steps);
      assert.doesNotMatch(steps, /TEMP B-TREE/);
      await store.close();
    });
  }
});
