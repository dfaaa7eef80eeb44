// Records of one task in a real store, at one instant, for what the host says about them.
import assert from 'node:assert/strict';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { readCommand } from '../../src/core/inbox/command.ts';
import type { EngineParts, Health } from '../../src/engine/engine.ts';
import { answerCommand, type AskCommand } from '../../src/engine/inbox/answers.ts';
import type { EventType } from '../../src/kernel/event.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { Write } from '../../src/ports/store.ts';
import {
  conversationRow,
  eventRow,
  hostRow,
  idOf,
  sessionRow,
  taskRow,
  turnRow,
} from '../../src/testing/store-rows.ts';

/** Friday, 14:02:05 in Berlin. */
export const NOW = Date.UTC(2025, 10, 14, 13, 2, 5);
export const BERLIN = { locale: 'en', timeZone: 'Europe/Berlin' } as const;
export const ID = idOf('task', 1);
export const HERE = idOf('conversation', 1);
export const TURN = idOf('turn', 1);
export const APPROVAL = idOf('approval', 1);

export const ANNA: Principal = { kind: 'member', id: 'anna', isAdmin: false };
export const ADMIN: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };
/** Of a host that is well and idle. */
export const HEALTH: Health = {
  state: 'ready',
  reason: null,
  hostId: idOf('host', 1),
  startedAt: NOW - 3_600_000,
  runningTurns: 0,
  answeredBy: null,
  clock: { isTrusted: true, driftMs: 0, until: null },
  safeMode: null,
  assessing: [],
  maintaining: [],
  limiters: [],
};

export const LEFT =
  'Left: 49 of 50 turns, 1,999,000 of 2,000,000 tokens, US$19.50 of US$20.00, ' +
  '20 of 20 continuations, 1 of 1 corrective turns, ' +
  '3 of 3 checks after an interruption (made so far: 0); deadline: Fri 21 Nov, 14:02.';
export const USED = 'It used 1,000 tokens (US$0.50); turns: 1.';

/** The configured model, as far as it is spoken of. */
export const MODEL = {
  provider: 'openai-compatible',
  name: 'llama3.2',
  price: 'free',
  rates: { input: 0, output: 0 },
  account: 'local',
  contextWindow: 128_000,
} as const;
const PRICED = {
  ...MODEL,
  provider: 'anthropic',
  name: 'sonnet',
  price: 'costs-money',
  rates: { input: 3, output: 15 },
  account: 'ours',
} as const;
const UNPRICED = { ...PRICED, provider: 'openai', name: 'new', price: 'unpriced', rates: null };

/** What explaining and answering need of a host, over a store in memory with one conversation. */
export async function openParts(): Promise<EngineParts> {
  const clock = { now: () => NOW };
  const ids = createIds({ now: () => NOW, random: () => 1 });
  const parts = {
    store: openSqlite({ path: ':memory:', clock, ids }),
    clock,
    agents: [{ name: 'default', model: MODEL, fallbacks: [] }],
    models: [MODEL, PRICED, UNPRICED],
    classifier: MODEL,
    options: { ...BERLIN, recovery: { safeMode: true } },
  } as unknown as EngineParts;
  await put(
    parts,
    // That of the turn, which lives.
    { write: 'host.insert', row: hostRow({ aliveUntil: NOW + 15_000, stoppedAt: null }) },
    { write: 'conversation.insert', row: conversationRow() },
    { write: 'session.insert', row: sessionRow() },
  );
  return parts;
}

export async function put({ store }: EngineParts, ...writes: readonly Write[]): Promise<void> {
  const decide = (): { verdict: null; writes: readonly Write[] } => ({ verdict: null, writes });
  const { kind } = await store.commit({ name: 'test.put', reads: {}, decide });
  assert.equal(kind, 'done');
}

export function task(over: Partial<TaskRecord> = {}): Write {
  const row = taskRow({
    mandateText: 'Summarise the March invoices',
    mandatePrincipal: 'member:anna',
    createdAt: NOW - 65_000,
    changedAt: NOW - 65_000,
    deadline: NOW + 7 * 86_400_000,
    turnsUsed: 1,
    tokensUsed: 1_000,
    costUsed: 500_000,
    ...over,
  });
  return { write: 'task.insert', row };
}

/** An open approval of the task: `make && make install` by a shell. */
export function approval(over: Partial<ApprovalRecord> = {}): Write {
  const shown = { argv: ['/bin/sh', '-c', 'make && make install'], folder: '/work' };
  return {
    write: 'approval.insert',
    row: {
      id: APPROVAL,
      conversationId: HERE,
      taskId: ID,
      runId: null,
      turnId: TURN,
      stepId: idOf('event', 5),
      kind: 'call',
      tool: 'command',
      input: '{"command":"make && make install"}',
      shown: JSON.stringify({ ...shown, env: {}, files: [] }),
      approver: 'any',
      state: 'open',
      requestedBy: 'member:anna',
      decidedBy: null,
      at: NOW - 5_000,
      expiresAt: NOW + 60_000,
      decidedAt: null,
      ...over,
    },
  };
}

/** Events of the task, one a second from 14:01:00, numbered from 2. */
export function events(
  ...list: readonly (readonly [EventType, Partial<EventRecord>?])[]
): readonly Write[] {
  return list.map(([type, over], index) => ({
    write: 'event.insert',
    row: eventRow({
      seq: index + 2,
      type,
      at: NOW - 65_000 + index * 1_000,
      by: `host:${idOf('host', 1)}`,
      taskId: ID,
      ...over,
    }),
  }));
}

/** A turn that has the conversation since 14:01:01. */
export function turn(over: Parameters<typeof turnRow>[0] = {}): readonly Write[] {
  const held = { expectedSeq: 0, seq: 20, token: 1, turnId: TURN };
  return [
    { write: 'turn.insert', row: turnRow({ startedAt: NOW - 64_000, ...over }) },
    { write: 'conversation.advance', id: HERE, ...held },
  ];
}

/** The answer to a command that changes nothing, said here. */
export async function ask(parts: EngineParts, text: string, principal: Principal): Promise<string> {
  const command = readCommand(text);
  assert.ok(command !== undefined);
  const order = { command: command as AskCommand, conversationId: HERE, principal };
  return answerCommand(parts, { ...order, health: HEALTH });
}
