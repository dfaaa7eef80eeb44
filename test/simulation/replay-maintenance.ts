// V17 of maintenance: operations, fences and sessions equal the replay of their events.
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type {
  ConversationRecord,
  EventRecord,
  SessionRecord,
} from '../../src/core/session/record.ts';
import { dataOf, group, type Dump } from './dump.ts';
import type { Problems } from './problems.ts';
import { compare, fold, type Evidence, type Fold } from './replay-fold.ts';

type OperationReplay = Record<
  keyof Pick<
    OperationRecord,
    | 'state'
    | 'reason'
    | 'kind'
    | 'step'
    | 'sessionId'
    | 'epoch'
    | 'failures'
    | 'lifetimeFailures'
    | 'attempts'
    | 'nextAttemptAt'
    | 'createdAt'
    | 'endedAt'
  >,
  unknown
>;

const FRESH_OPERATION: OperationReplay = {
  state: 'unmade',
  reason: null,
  kind: null,
  step: null,
  sessionId: null,
  epoch: 1,
  failures: 0,
  lifetimeFailures: 0,
  attempts: 0,
  nextAttemptAt: null,
  createdAt: 'never',
  endedAt: null,
};

const OPERATION_FOLD: Fold<OperationReplay> = {
  'operation.started': (operation, event) => ({
    ...operation,
    ...named(event, ['kind', 'step', 'sessionId']),
    state: 'running',
    nextAttemptAt: event.at,
    createdAt: event.at,
  }),
  'operation.reserved': (operation, event) => ({
    ...operation,
    state: event.toState,
    attempts: dataOf(event)['attempt'],
    nextAttemptAt: null,
  }),
  'operation.moved': (operation, event) => {
    const isOver = event.toState === 'done' || event.toState === 'dropped';
    const counts = ['kind', 'step', 'epoch', 'failures', 'lifetimeFailures'];
    return {
      ...operation,
      ...named(event, counts),
      // A session that was handed over is compacted from here on (M-19).
      ...(operation.endedAt !== null && !isOver ? { sessionId: ANY } : {}),
      state: event.toState,
      reason: event.reason,
      nextAttemptAt: isOver ? null : (dataOf(event)['nextAttemptAt'] ?? null),
      endedAt: isOver ? event.at : null,
    };
  },
  'operation.admitted': (operation, event) => ({
    ...operation,
    ...named(event, ['kind', 'step', 'epoch']),
    state: 'running',
    reason: null,
    failures: 0,
    nextAttemptAt: event.at,
  }),
};

/** What no event says. */
const ANY = Symbol('any');

function named(event: EventRecord, keys: readonly string[]): Record<string, unknown> {
  const data = dataOf(event);
  return Object.fromEntries(keys.map((key) => [key, data[key]]));
}

type SessionReplay = Record<
  keyof Pick<SessionRecord, 'cutSeq' | 'compactions' | 'nextId' | 'previousId'>,
  unknown
>;
const FRESH_SESSION: SessionReplay = { cutSeq: 0, compactions: 0, nextId: null, previousId: null };

const MADE = 'session.made';

const SESSION_FOLD: Fold<SessionReplay> = {
  'session.started': (session, event) => ({
    ...session,
    previousId: dataOf(event)['previousId'] ?? null,
  }),
  'session.compacted': (session, event) => ({
    ...session,
    ...named(event, ['cutSeq', 'compactions']),
  }),
  'session.archived': (session, event) => ({ ...session, nextId: dataOf(event)['nextId'] }),
  // It exists from here on, and begins with the next step (M-16).
  [MADE]: (session, event) => ({ ...session, previousId: dataOf(event)['sessionId'] }),
};

/** Where replay and record of maintenance differ. */
export function judgeMaintenanceReplay(problems: Problems, dump: Dump, evidence: Evidence): void {
  const moved = dump.events.filter(({ type }) => type.startsWith('operation.'));
  const ofOperation = group(moved, (event) => String(dataOf(event)['operationId']));
  for (const operation of dump.operations) {
    const events = ofOperation.get(operation.id) ?? [];
    const replayed = fold(events, FRESH_OPERATION, OPERATION_FOLD, evidence);
    const known = Object.entries(replayed).filter(([, value]) => value !== ANY);
    compare(problems, operation, Object.fromEntries(known));
  }
  const changed = dump.events.filter(({ type }) => type.startsWith('session.'));
  const ofSession = group(changed, (event) => String(dataOf(event)['sessionId']));
  const archived = changed.filter(({ type }) => type === 'session.archived');
  const makes = group(archived, (event) => String(dataOf(event)['nextId']));
  for (const session of dump.sessions) {
    const made = (makes.get(session.id) ?? []).map((event) => ({ ...event, type: MADE }));
    const events = [...made, ...(ofSession.get(session.id) ?? [])];
    compare(problems, session, fold(events, FRESH_SESSION, SESSION_FOLD, evidence));
  }
}

type FenceReplay = Pick<ConversationRecord, 'fence' | 'operationId'>;

/** What an event makes of the fence of its conversation. */
export function fenceOf<S extends FenceReplay>(of: S, event: EventRecord): S {
  const operationId = (dataOf(event)['operationId'] ?? null) as FenceReplay['operationId'];
  return { ...of, fence: event.toState as FenceReplay['fence'], operationId };
}
