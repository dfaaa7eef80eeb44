// Planted defects of what a turn can meet: retries, approvals, steering, budgets, waits and limits.
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { LimiterRecord } from '../../src/core/budget/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Committed, Store, Unit, UnitReads } from '../../src/ports/store.ts';
import {
  inUnit,
  mapWrite,
  patch,
  without,
  withTools,
  type Defect,
  type Claimed,
  type Loose,
} from './planting.ts';

export const MEETING_DEFECTS: readonly Defect[] = [
  {
    name: 'a further call is made without its reservation',
    breaks: /^(?:V5|T-18) /,
    store: answering('turn.retry', () => 'reserved'),
  },
  {
    name: 'an approved call runs whatever its bytes are by now',
    breaks: /^E-4 /,
    parts: withTools((tools) => ({
      ...tools,
      run: async (call, signal, approved) => {
        const { shown } = await tools.examine(call);
        return tools.run(call, signal, approved === undefined ? undefined : (shown ?? approved));
      },
    })),
  },
  {
    name: 'a call that needs approval runs without one',
    breaks: /^E-4 /,
    parts: withTools((tools) => ({
      ...tools,
      examine: async (call) => ({ ...(await tools.examine(call)), needsApproval: false }),
    })),
  },
  {
    name: 'an approval that was answered can be answered again',
    breaks: /^(?:E-4|V4|V17) /,
    store: inUnit('approval.answer', {
      rows: patch('approval', { state: 'open' }),
      writes: (writes, rows) => {
        const isSecond = (rows['task'] as Loose)['state'] !== 'waiting';
        const again = mapWrite('message.insert', (write) => ({
          ...write,
          row: { ...write.row, externalId: `${write.row.externalId} ${write.row.id}` },
        }));
        return isSecond ? again(without('approval.decide')(writes, rows), rows) : writes;
      },
    }),
  },
  {
    name: 'the one who asked approves what wants another person',
    breaks: /^E-6 /,
    store: inUnit('approval.answer', { rows: patch('approval', { approver: 'any' }) }),
  },
  {
    name: 'a message that steers a turn is dropped',
    breaks: /^V2 /,
    store: inUnit('turn.step', { writes: without('message.claim') }),
  },
  {
    name: 'a message that came at the end of a turn is dropped',
    breaks: /^(?:V2|V20) /,
    store: inUnit('turn.end', { writes: without('message.claim') }),
  },
  {
    name: 'words of a guest steer the turn of an admin',
    breaks: /^T-11 /,
    store: (store) => looking('turn.end')(looking('turn.step')(store, NOBODY), NOBODY),
  },
  {
    name: 'an extension happens again under its receipt',
    breaks: /^(?:V15|M-7) /,
    store: inUnit('task.extend', {
      rows: (rows) => ({ ...rows, receipt: undefined, _used: rows['receipt'] }),
      writes: (writes, rows) =>
        rows['_used'] === undefined ? writes : without('receipt.insert')(writes, rows),
    }),
  },
  {
    name: 'a resume moves the deadline',
    breaks: /^(?:V15|V17) /,
    store: inUnit('task.resume', {
      writes: mapWrite('task.save', (write) => ({
        ...write,
        row: { ...write.row, deadline: (write.row.deadline ?? 0) + 3_600_000 },
      })),
    }),
  },
  {
    name: 'a wait goes on by itself after an unclean stop',
    breaks: /^R-1 /,
    // As if this host had seen every wait begin.
    store: inUnit('task.due', { rows: patch('task', { changedAt: Number.MAX_SAFE_INTEGER }) }),
  },
  {
    name: 'a budget is judged only after the spend',
    breaks: /^V15 /,
    store: spendsFreely,
  },
  {
    name: 'what the tries that failed used is not booked',
    breaks: /^V15 /,
    store: inUnit('turn.step', {
      writes: mapWrite('step.finish', ({ write, row }) => ({
        write,
        row: { ...row, inputTokens: row.inputTokens && Math.min(row.inputTokens, 100) },
      })),
    }),
  },
  {
    name: 'limiters are forgotten at a restart',
    // Who waits for such a provider is not looked after any more.
    breaks: /^(?:T-18|V20) /,
    store: forgetful,
  },
  {
    name: 'a limited account is found out by everybody at once',
    breaks: /^T-18 /,
    store: everyonesProbe,
  },
  {
    name: 'a quota wait is not counted',
    breaks: /^(?:V17|T-12) /,
    store: inUnit('turn.end', {
      writes: mapWrite('task.save', (write) => ({
        ...write,
        row: { ...write.row, quotaWaits: 0 },
      })),
    }),
  },
  {
    name: 'a blocked task tells nobody',
    breaks: /^(?:V8|V17) /,
    store: inUnit('turn.end', {
      writes: (writes, rows) => {
        const isBlocked = writes.some(
          (write) => write.write === 'task.save' && write.row.state === 'blocked',
        );
        return isBlocked ? without('outbox.insert')(writes, rows) : writes;
      },
    }),
  },
  {
    name: 'a task that ends leaves its approval open',
    breaks: /^(?:E-4|V17) /,
    store: inUnit('task.stop', { writes: without('approval.decide') }),
  },
];

const NOBODY = undefined as never;

/** A store that answers units of this name by itself and commits nothing. */
function answering(name: string, verdict: () => unknown): NonNullable<Defect['store']> {
  return (store) => ({
    ...passing(store),
    commit: async (unit) =>
      unit.name === name
        ? ({ kind: 'done', verdict: verdict() } as Committed<never>)
        : store.commit(unit),
  });
}

function passing(store: Store): Store {
  return {
    traits: store.traits,
    query: (read, args) => store.query(read, args),
    close: () => store.close(),
    commit: (unit) => store.commit(unit),
  };
}

/** Everybody's words look like those of the task's own admin. */
function looking(name: string): NonNullable<Defect['store']> {
  return inUnit(name, {
    rows: (rows) => {
      const task = rows['task'] as TaskRecord | undefined;
      if (task?.mandateAuthority !== 'admin') return rows;
      const unbound = (rows['unbound'] as readonly MessageRecord[] | undefined) ?? [];
      const { mandatePrincipal: principal } = task;
      return {
        ...rows,
        unbound: unbound.map((message) => ({ ...message, principal, authority: 'admin' })),
      };
    },
  });
}

/** The loop of a turn knows no limit; what it spent is booked as ever. */
function spendsFreely(store: Store): Store {
  return {
    ...passing(store),
    commit: async <R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> => {
      const committed = await store.commit(unit);
      if (unit.name !== 'turn.claim' || committed.kind === 'lost') return committed;
      const claim = committed.verdict as Partial<Claimed> | undefined;
      if (claim?.task === undefined) return committed;
      const task = { ...claim.task, tokensLimit: Infinity, costLimit: Infinity };
      return { ...committed, verdict: { ...claim, task } as V };
    },
  };
}

function forgetful(store: Store): Store {
  return {
    ...passing(store),
    query: async (read, args) =>
      read === 'limiter.list' ? ([] as never) : store.query(read, args),
  };
}

/** Whoever asks finds that nobody is out to find out, and that it is time. */
function everyonesProbe(store: Store): Store {
  const free = (row: unknown): unknown =>
    row === undefined ? row : { ...(row as LimiterRecord), probeUntil: null, until: 0 };
  const reserving = inUnit('budget.limit', {
    rows: (rows) => ({ ...rows, limiter: free(rows['limiter']) }),
  })(store, NOBODY);
  return {
    ...passing(reserving),
    commit: async <R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> => {
      const committed = await reserving.commit(unit);
      if (unit.name !== 'budget.limit' || committed.kind === 'lost') return committed;
      const moved = committed.verdict as Loose;
      return { ...committed, verdict: { ...moved, row: free(moved['row']) } as V };
    },
  };
}
