// The reads of a store as data, for tests that ask two stores the same.
import type { ReadCall } from '../../src/ports/store.ts';
import { ABOVE_ALL, idOf } from '../../src/testing/store-rows.ts';

/** Every read but those by id, with arguments that find what the scripts write. */
export function allReads(): readonly ReadCall[] {
  const limit = 5;
  const all = { before: ABOVE_ALL, limit };
  const any = { state: '', enrollment: '', conversationId: '' };
  const global: readonly ReadCall[] = [
    { read: 'conversation.list', args: all },
    { read: 'message.openCommands', args: { limit } },
    { read: 'inbox.due', args: { generatedSince: 0, limit } },
    { read: 'inbox.due', args: { generatedSince: 2 ** 44, limit } },
    { read: 'task.list', args: { ...any, ...all } },
    { read: 'task.list', args: { ...any, ...all, state: 'active' } },
    { read: 'task.list', args: { ...any, ...all, state: 'failed' } },
    { read: 'task.list', args: { ...any, before: idOf('task', 2), limit, state: 'completed' } },
    { read: 'task.open', args: { limit } },
    { read: 'task.due', args: { now: 2 ** 44, limit } },
    { read: 'task.nextDue', args: {} },
    { read: 'task.waitingFor', args: { kind: 'quota', id: 'a', limit } },
    { read: 'task.waitingFor', args: { kind: 'provider', id: 'b', limit } },
    { read: 'turn.newest', args: {} },
    { read: 'approval.list', args: { state: '', conversationId: '', ...all } },
    { read: 'approval.list', args: { state: 'open', conversationId: '', ...all } },
    { read: 'approval.openOfTask', args: { taskId: idOf('task', 1) } },
    { read: 'approval.due', args: { now: 2 ** 44, limit } },
    { read: 'approval.nextDue', args: {} },
    { read: 'limiter.byAccount', args: { account: 'a' } },
    { read: 'limiter.list', args: { limit } },
    { read: 'audit.last', args: {} },
    { read: 'audit.after', args: { after: 1, limit } },
    { read: 'receipt.byScope', args: { scope: '' } },
    {
      read: 'usage.ofRange',
      args: { from: idOf('turn', 1), to: idOf('turn', 3) },
    },
    {
      read: 'usage.ofMaintenance',
      args: { from: idOf('operation', 1), to: idOf('operation', 3) },
    },
    { read: 'usage.byTask', args: { from: idOf('turn', 1), to: ABOVE_ALL, limit: 2 } },
    { read: 'task.nearest', args: { from: `task_ZZZZ${idOf('task', 2).slice(9)}`, limit } },
    { read: 'outbox.list', args: { conversationId: '', state: '', ...all } },
    { read: 'run.list', args: all },
    { read: 'host.list', args: { limit } },
    { read: 'turn.openOf', args: { hostId: idOf('host', 1), limit } },
    { read: 'turn.openElsewhere', args: { except: idOf('host', 1), deadBefore: 5_000, limit } },
    { read: 'run.ofTask', args: { taskId: idOf('task', 1) } },
  ];
  return [
    ...global,
    ...recoveryReads(),
    ...maintenanceReads(),
    ...[1, 2].flatMap((n) => readsOf(n)),
  ];
}

function recoveryReads(): readonly ReadCall[] {
  const limit = 5;
  const batch = { limit: 2 };
  const all = { before: ABOVE_ALL, limit };
  const since = 2 ** 44;
  return [
    { read: 'conversation.newestRead', args: {} },
    {
      read: 'task.list',
      args: { state: '', enrollment: 'held-legacy', conversationId: '', ...all },
    },
    {
      read: 'task.list',
      args: { state: 'blocked', enrollment: 'unmarked', conversationId: '', ...all },
    },
    { read: 'outbox.list', args: { conversationId: '', state: 'uncertain', ...all } },
    { read: 'task.assessable', args: { now: since, attempts: 3, limit } },
    { read: 'task.assessable', args: { now: 0, attempts: 2, limit: 1 } },
    { read: 'task.nextAssessment', args: {} },
    { read: 'task.granted', args: { limit } },
    { read: 'task.silent', args: { limit } },
    { read: 'recovery.standing', args: {} },
    { read: 'report.tasks', args: { since: 500, limit } },
    { read: 'report.last', args: { now: 1_800_000_000_000 } },
    { read: 'storm.last', args: {} },
    { read: 'host.lostSince', args: { since, limit } },
    { read: 'boundary.last', args: {} },
    { read: 'boundary.tasks', args: batch },
    { read: 'boundary.conversations', args: batch },
    { read: 'boundary.messages', args: batch },
    { read: 'boundary.turns', args: batch },
    { read: 'boundary.runs', args: batch },
    { read: 'boundary.workers', args: batch },
    { read: 'boundary.unowned', args: batch },
    { read: 'boundary.owners', args: batch },
    { read: 'execution.list', args: { state: '', enrollment: '', ...all } },
    { read: 'execution.list', args: { state: 'running', enrollment: '', ...all } },
    { read: 'execution.list', args: { state: '', enrollment: 'unmarked', ...all } },
    { read: 'execution.ofTask', args: { taskId: idOf('task', 1), limit } },
    { read: 'execution.runningElsewhere', args: { except: idOf('host', 1), limit } },
  ];
}

function maintenanceReads(): readonly ReadCall[] {
  const limit = 5;
  const all = { conversationId: '', before: ABOVE_ALL, limit };
  return [
    { read: 'operation.byId', args: { id: idOf('operation', 1) } },
    { read: 'operation.due', args: { now: 2 ** 44, limit } },
    { read: 'operation.nextDue', args: {} },
    { read: 'operation.tried', args: { limit } },
    { read: 'operation.list', args: { ...all, state: '' } },
    { read: 'operation.list', args: { ...all, state: 'open' } },
    { read: 'operation.list', args: { ...all, state: 'blocked' } },
    { read: 'operation.list', args: { ...all, state: 'dropped' } },
    { read: 'operation.standing', args: {} },
    { read: 'conversation.fenced', args: { limit } },
    { read: 'outbox.byKey', args: { key: 'key:3' } },
  ];
}

function readsOf(number: number): readonly ReadCall[] {
  const conversation = idOf('conversation', number);
  const task = idOf('task', 1);
  const session = { conversationId: conversation, sessionId: idOf('session', number) };
  const page = { conversationId: conversation, after: 2, limit: 5 };
  const of = { conversationId: conversation, taskId: task };
  const turn = { conversationId: conversation, turnId: idOf('turn', 1) };
  return [
    { read: 'conversation.byId', args: { id: conversation } },
    { read: 'conversation.byAddress', args: { channel: 'terminal', address: `a${number}` } },
    { read: 'event.after', args: page },
    { read: 'event.ofTask', args: { ...of, limit: 5 } },
    { read: 'event.seqOf', args: { conversationId: conversation, id: idOf('event', 4) } },
    {
      read: 'message.claimable',
      args: { conversationId: conversation, generatedSince: 0, limit: 5 },
    },
    {
      read: 'message.claimable',
      args: { conversationId: conversation, generatedSince: 2 ** 44, limit: 5 },
    },
    { read: 'message.ofTurn', args: turn },
    { read: 'message.openOfTask', args: of },
    { read: 'message.claimedAfter', args: page },
    { read: 'task.openOf', args: { conversationId: conversation, limit: 5 } },
    {
      read: 'task.list',
      args: {
        state: '',
        enrollment: '',
        before: ABOVE_ALL,
        limit: 2,
        conversationId: conversation,
      },
    },
    { read: 'turn.ofConversation', args: { conversationId: conversation } },
    { read: 'step.lastOf', args: turn },
    { read: 'step.open', args: { conversationId: conversation } },
    { read: 'step.after', args: page },
    { read: 'step.before', args: { ...session, after: 0, before: 9, limit: 5 } },
    { read: 'step.before', args: { ...session, after: 4, before: 9, limit: 5 } },
    { read: 'message.ofSession', args: { ...session, after: 2, limit: 5 } },
    { read: 'message.unbound', args: { conversationId: conversation, limit: 5 } },
    { read: 'session.byId', args: { id: session.sessionId } },
    { read: 'session.list', args: { conversationId: conversation, before: ABOVE_ALL, limit: 5 } },
    { read: 'step.ofSession', args: { ...session, after: 3, upTo: 9, limit: 5 } },
    {
      read: 'step.callsOf',
      args: { ...of, upTo: 9, state: 'started', repeatable: 'no', limit: 5 },
    },
    { read: 'step.callsOf', args: { ...of, upTo: 20, state: '', repeatable: '', limit: 5 } },
    { read: 'message.newestSaid', args: { conversationId: conversation, limit: 5 } },
    { read: 'run.openOf', args: { conversationId: conversation, limit: 5 } },
    { read: 'operation.newestOf', args: { conversationId: conversation } },
    {
      read: 'operation.list',
      args: { state: '', before: ABOVE_ALL, limit: 5, conversationId: conversation },
    },
    { read: 'approval.openOf', args: { conversationId: conversation, limit: 5 } },
    {
      read: 'approval.list',
      args: { state: 'denied', before: ABOVE_ALL, limit: 5, conversationId: conversation },
    },
    { read: 'step.ofTask', args: { ...of, limit: 5 } },
    {
      read: 'step.callsOf',
      args: { ...of, upTo: 9, state: 'finished', repeatable: '', limit: 5 },
    },
    { read: 'step.usageOf', args: of },
    { read: 'outbox.after', args: page },
    {
      read: 'outbox.list',
      args: { state: '', before: ABOVE_ALL, limit: 5, conversationId: conversation },
    },
  ];
}
