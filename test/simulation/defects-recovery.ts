// Planted defects of recovery and of the boundary: attempts, permissions, notices, and history that wakes.
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { TurnRecord } from '../../src/core/turn/record.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { Committed, Store, Unit, UnitReads, Write } from '../../src/ports/store.ts';
import {
  inUnit,
  mapWrite,
  patch,
  tellTwice,
  without,
  type Defect,
  type Loose,
  type WritesChange,
} from './planting.ts';

const saving = (change: (row: TaskRecord, rows: Loose) => TaskRecord): WritesChange => {
  return (writes, rows) =>
    mapWrite('task.save', (write) => ({ ...write, row: change(write.row, rows) }))(writes, rows);
};

export const RECOVERY_DEFECTS: readonly Defect[] = [
  {
    name: 'an attempt that failed technically is given back',
    breaks: /^(?:V5|V6|V17) /,
    store: inUnit('recovery.record', {
      writes: saving((row) =>
        row.recoveryOutcome === 'failed'
          ? { ...row, recoveryAttempts: row.recoveryAttempts - 1 }
          : row,
      ),
    }),
  },
  {
    name: 'an attempt is reserved after its call',
    breaks: /^V5 /,
    store: reservesLate,
  },
  {
    name: 'a fourth attempt is made',
    breaks: /^(?:V5|V6) /,
    store: (store, host) => {
      const two = patchTask(({ recoveryAttempts: attempts, recoveryOutcome: outcome }) =>
        attempts >= LIMITS.recoveryAttempts && outcome !== 'continue'
          ? { recoveryAttempts: LIMITS.recoveryAttempts - 1 }
          : {},
      );
      const recording = inUnit('recovery.record', { rows: two })(store, host);
      return inUnit('recovery.reserve', { rows: two })(withFewAttempts(recording), host);
    },
  },
  {
    name: 'the next attempt is counted from the outcome of the last',
    breaks: /^(?:R-3|V17) /,
    store: inUnit('recovery.record', {
      writes: (writes, rows) => {
        const event = writes.find((write) => write.write === 'event.insert');
        const now = event?.write === 'event.insert' ? event.row.at : 0;
        const later = (at: number | null): number =>
          Math.max(at ?? 0, now + LIMITS.recoverySpacingMs);
        const saved = saving((row) => ({ ...row, recoveryNextAt: later(row.recoveryNextAt) }))(
          writes,
          rows,
        );
        return mapWrite('event.insert', (write) =>
          write.row.type === 'assessment.ended'
            ? { ...write, row: { ...write.row, data: laterIn(write.row.data, later) } }
            : write,
        )(saved, rows);
      },
    }),
  },
  {
    name: 'a continue is followed after a restart',
    breaks: /^R-16 /,
    store: (store, host) => grantsForEver(answeringQuery('task.granted', () => [])(store, host)),
  },
  {
    name: 'interrupted work goes on without an assessment',
    breaks: /^V6 /,
    store: inUnit('turn.close', { writes: goesOn }),
  },
  {
    name: 'what an assessment came to is told twice',
    breaks: /^(?:R-7|V8|V17) /,
    store: inUnit('recovery.record', { writes: tellTwice }),
  },
  {
    name: 'a completed turn does not begin the count anew',
    breaks: /^V17 /,
    store: inUnit('turn.end', {
      writes: saving((row, rows) => {
        const before = rows['task'] as TaskRecord;
        const { recoveryEpoch, recoveryAttempts } = before;
        return { ...row, recoveryEpoch, recoveryAttempts };
      }),
    }),
  },
  {
    name: 'a reset moves the deadline',
    breaks: /^(?:R-8|V15|V17) /,
    store: inUnit('task.reset', {
      writes: saving((row) => ({ ...row, deadline: (row.deadline ?? 0) + 3_600_000 })),
    }),
  },
  {
    name: 'work begins before the boundary is drawn',
    breaks: /^B-2 /,
    store: seesNoBoundary,
  },
  {
    name: 'an input that nobody has finished proves nothing',
    breaks: /^B-3 /,
    store: inUnit('boundary.tasks', { rows: (rows) => ({ ...rows, messages: [] }) }),
  },
  {
    name: 'a worker of another mandate proves its task',
    breaks: /^B-3 /,
    store: inUnit('boundary.tasks', {
      rows: (rows) => {
        const hashes = new Map(
          (rows['tasks'] as readonly TaskRecord[]).map(({ id, mandateHash }) => [id, mandateHash]),
        );
        const workers = (rows['workers'] as readonly Loose[]).map((worker) => ({
          ...worker,
          mandateHash: hashes.get(worker['taskId'] as TaskRecord['id']),
        }));
        return { ...rows, workers };
      },
    }),
  },
  {
    name: 'what the boundary holds is not counted',
    breaks: /^B-10 /,
    store: inUnit('boundary.tasks', { writes: without('boundary.add') }),
  },
  {
    name: 'a generated input of a held task is not set aside',
    breaks: /^(?:B-4|V9) /,
    store: inUnit('boundary.tasks', { writes: without('message.hold') }),
  },
  {
    name: 'the resume of one held task wakes another',
    breaks: /^V9 /,
    store: wakesTwo,
  },
  {
    name: 'a held task comes due',
    breaks: /^V9 /,
    store: (store, host) => {
      const current = patchTask(({ enrollment }) =>
        enrollment === 'held-legacy' ? { enrollment: 'current', dueAt: 0, deadline: 1 } : {},
      );
      return inUnit('task.due', { rows: current })(findsHeldDue(store), host);
    },
  },
  {
    name: 'a storm of unclean starts is not recorded',
    breaks: /^R-12 /,
    store: inUnit('storm.start', { writes: without('storm.insert') }),
  },
];

function patchTask(
  change: (task: TaskRecord) => Partial<TaskRecord>,
): NonNullable<Parameters<typeof inUnit>[1]['rows']> {
  return (rows) =>
    rows['task'] === undefined ? rows : patch('task', change(rows['task'] as TaskRecord))(rows);
}

function passing(store: Store): Store {
  return {
    traits: store.traits,
    query: (read, args) => store.query(read, args),
    close: () => store.close(),
    commit: (unit) => store.commit(unit),
  };
}

/** A store that answers this read by itself. */
function answeringQuery(name: string, answer: () => unknown): NonNullable<Defect['store']> {
  return (store) => ({
    ...passing(store),
    query: async (read, args) => {
      const rows = await store.query(read, args);
      return read === name ? (answer() as never) : rows;
    },
  });
}

/** Every `continue` looks as if it had just been said when a turn is to begin. */
function grantsForEver(store: Store): Store {
  return {
    ...passing(store),
    commit: (unit) =>
      store.commit({
        ...unit,
        decide: (rows, at) => {
          const { task } = rows as { readonly task?: TaskRecord };
          const isGranted = unit.name === 'turn.claim' && task?.recoveryState === 'granted';
          const fresh = isGranted ? { task: { ...task, recoveryGrantedAt: at.now } } : {};
          return unit.decide({ ...rows, ...fresh }, at);
        },
      }),
  };
}

function laterIn(data: string | null, later: (at: number | null) => number): string {
  const read = JSON.parse(data ?? '{}') as { readonly nextAt?: number };
  return JSON.stringify({ ...read, nextAt: later(read.nextAt ?? null) });
}

/** Answers what the reservation would come to, and commits it when the call has long been made. */
function reservesLate(store: Store): Store {
  return {
    ...passing(store),
    commit: async <R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> => {
      if (unit.name !== 'recovery.reserve') return store.commit(unit);
      return store.commit({
        ...unit,
        decide: (rows, at) => {
          const decision = unit.decide(rows, at);
          const isReserved = (decision.verdict as Loose)['kind'] === 'reserved';
          return isReserved ? { ...decision, writes: [] } : decision;
        },
      });
    },
  };
}

/** Candidates never look used up. */
function withFewAttempts(store: Store): Store {
  return {
    ...passing(store),
    query: async (read, args) => {
      const rows = await store.query(read, args);
      if (read !== 'task.assessable') return rows;
      const few = (rows as readonly TaskRecord[]).map((task) => ({
        ...task,
        recoveryAttempts: Math.min(task.recoveryAttempts, LIMITS.recoveryAttempts - 1),
      }));
      return few;
    },
  };
}

/** The cut turn's task is active again, with an input of the host. */
function goesOn(writes: readonly Write[], rows: Loose): readonly Write[] {
  const save = writes.find((write) => write.write === 'task.save');
  const lock = writes.find((write) => write.write === 'conversation.advance');
  const move = writes.find(
    (write) => write.write === 'event.insert' && write.row.reason === 'interrupted',
  );
  if (save?.write !== 'task.save' || lock?.write !== 'conversation.advance') return writes;
  if (move?.write !== 'event.insert') return writes;
  const { id: taskId, conversationId, mandateAuthority: authority, mandateHash } = save.row;
  const seq = lock.seq + 1;
  const id = `msg_${(rows['turn'] as TurnRecord).id.slice('turn_'.length)}` as const;
  const active = { state: 'active', reason: null, waitKind: null, dueAt: null } as const;
  const input: MessageRecord = {
    id,
    conversationId,
    seq,
    channel: 'recovery',
    externalId: `${taskId}:${save.row.version}`,
    kind: 'generated',
    principal: move.row.by,
    authority,
    text: 'go on',
    bodyHash: mandateHash,
    replyTo: null,
    state: 'unclaimed',
    taskId,
    runId: null,
    turnId: null,
    claimedSeq: null,
    answerId: null,
    at: move.row.at,
  };
  return [
    ...writes.filter((write) => write !== save && write !== lock && write !== move),
    { ...lock, seq },
    { ...save, row: { ...save.row, ...active, recoveryState: 'none' } },
    { ...move, row: { ...move.row, toState: 'active', reason: null, data: null } },
    {
      ...move,
      row: {
        ...move.row,
        seq,
        id: `${move.row.id}Z`,
        type: 'message.accepted',
        fromState: null,
        toState: null,
        reason: null,
        data: JSON.stringify({ messageId: id }),
      },
    },
    { write: 'message.insert', row: input },
  ];
}

/** A start that finds nothing unmarked, whatever there is. */
function seesNoBoundary(store: Store): Store {
  return inUnit('boundary.begin', {
    rows: (rows) => ({ ...rows, last: undefined, tasks: [], workers: [] }),
  })(store, undefined as never);
}

/** After the resume of one held task the same is done to the next. */
function wakesTwo(store: Store): Store {
  const commitTo = async (unit: Unit<UnitReads, unknown>, other: TaskRecord): Promise<void> => {
    const reads = Object.fromEntries(
      Object.entries(unit.reads).map(([name, call]) => [name, aboutOther(call, other)]),
    ) as UnitReads;
    await store
      .commit({
        ...unit,
        reads,
        decide: (rows, at) => {
          const { writes } = unit.decide({ ...rows, receipt: undefined }, at);
          const kept = ['receipt.insert', 'audit.insert', 'message.done'];
          return {
            verdict: undefined,
            writes: writes.filter(({ write }) => !kept.includes(write)),
          };
        },
      })
      .catch(() => undefined);
  };
  return {
    ...passing(store),
    commit: async <R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> => {
      const committed = await store.commit(unit);
      if (unit.name !== 'task.resume' || committed.kind === 'lost') return committed;
      const { kind, task } = committed.verdict as { kind?: string; task?: TaskRecord };
      if (kind !== 'ordered' || task?.recoveryState !== 'needed') return committed;
      const held = await store
        .query('task.list', {
          state: 'blocked',
          enrollment: 'held-legacy',
          conversationId: '',
          before: '~',
          limit: 1,
        })
        .catch(() => []);
      const [other] = held;
      if (other !== undefined) await commitTo(unit, other);
      return committed;
    },
  };
}

function aboutOther(call: UnitReads[string], { id, conversationId }: TaskRecord): unknown {
  const args = { ...call.args } as Loose;
  if (typeof args['id'] === 'string')
    args['id'] = args['id'].startsWith('task_') ? id : conversationId;
  if ('taskId' in args) args['taskId'] = id;
  if ('conversationId' in args) args['conversationId'] = conversationId;
  return { ...call, args };
}

/** Held tasks are among what is due. */
function findsHeldDue(store: Store): Store {
  return {
    ...passing(store),
    query: async (read, args) => {
      const rows = await store.query(read, args);
      if (read !== 'task.due') return rows;
      const any = { state: 'blocked', conversationId: '', before: '~', limit: 5 };
      const held = await store.query('task.list', { ...any, enrollment: 'held-legacy' });
      return [...(rows as readonly TaskRecord[]), ...held] as never;
    },
  };
}
