import fc from 'fast-check';
import { operationRow } from '../../src/testing/store-rows-maintenance.ts';
import { idOf } from '../../src/testing/store-rows.ts';
import {
  conversationId,
  few,
  maybe,
  seq,
  sessionId,
  text,
  time,
  write,
} from './store-script-parts.ts';

const operationId = few.map((n) => idOf('operation', n));
const operationState = fc.constantFrom('running', 'waiting', 'blocked', 'done', 'dropped');
/** Writes of operations, fences, seeds and prepared notices. */
export const maintenanceWrites = [
  write(
    { id: operationId, conversationId, state: operationState, nextAttemptAt: maybe(time) },
    (over) => ({ write: 'operation.insert', row: operationRow(over) }),
  ),
  write(
    {
      id: operationId,
      version: few,
      state: operationState,
      reason: fc.constantFrom('exhausted', null),
      nextSessionId: maybe(sessionId),
      attemptAt: maybe(time),
      nextAttemptAt: maybe(time),
      noticeAt: maybe(time),
      endedAt: maybe(time),
      fault: maybe(text),
      work: maybe(text),
    },
    (over) => ({
      write: 'operation.save',
      row: operationRow({ ...over, version: over.version + 1 }),
    }),
  ),
  write({ id: operationId }, (call) => ({ write: 'operation.keptTold', ...call })),
  write(
    {
      id: conversationId,
      fence: fc.constantFrom('none', 'shut', 'blocked', 'passed'),
      operationId: maybe(operationId),
    },
    (call) => ({ write: 'conversation.fence', ...call }),
  ),
  write({ id: sessionId, seed: text, cutSeq: seq, compactions: few }, (call) => ({
    write: 'session.seed',
    ...call,
  })),
  write({ id: sessionId, nextId: sessionId }, (call) => ({ write: 'session.link', ...call })),
  write({ n: seq, seq, at: time, params: text }, ({ n, ...call }) => ({
    write: 'outbox.release',
    id: idOf('outbox', n),
    ...call,
  })),
  write({ n: seq }, ({ n }) => ({ write: 'outbox.withdraw', id: idOf('outbox', n) })),
];
