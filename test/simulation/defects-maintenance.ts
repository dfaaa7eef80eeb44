// Planted defects of context maintenance: counts, fences, admissions, summaries, cuts and what is told.
import { isOpen } from '../../src/core/maintenance/decide.ts';
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { OperationRecord } from '../../src/core/maintenance/record.ts';
import type { RunRecord } from '../../src/core/run/record.ts';
import type { EngineParts } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/ports/model.ts';
import type { Committed, Store, Unit, UnitReads, Write } from '../../src/ports/store.ts';
import {
  inUnit,
  mapWrite,
  patch,
  tellTwice,
  without,
  type Defect,
  type WritesChange,
} from './planting.ts';

const saving = (change: (row: OperationRecord) => OperationRecord): WritesChange =>
  mapWrite('operation.save', (write) => ({ ...write, row: change(write.row) }));

export const MAINTENANCE_DEFECTS: readonly Defect[] = [
  {
    name: 'a new message begins the count of failures anew',
    breaks: /^(?:V5|V17) /,
    store: after('inbox.accept', resetCounts),
  },
  {
    name: 'a guard throws the error that an operation has stored',
    breaks: /^(?:M-9 |logged: .*the stored error)/,
    store: throwsStored,
  },
  {
    name: 'a summary that failed is asked for again under the same reservation',
    breaks: /^V5 /,
    parts: withSummary((model) => ({
      ...model,
      call: async (request, live) => {
        const first = await model.call(request, live);
        return first.kind === 'fault' && !live.signal.aborted ? model.call(request, live) : first;
      },
    })),
  },
  {
    name: 'a summary is asked for before its try is reserved',
    breaks: /^V[57] /,
    store: reservesNothing,
  },
  {
    name: 'an admission leaves its receipt unused',
    breaks: /^(?:V5|M-7) /,
    store: inUnit('maintenance.admit', { writes: without('receipt.insert') }),
  },
  {
    name: 'a fence opens when a host starts',
    breaks: /^(?:B-2|V7|V17) /,
    store: after('lease.start', opensFences),
  },
  {
    name: 'a turn begins behind a fence',
    breaks: /^V7 /,
    store: claimsBehind,
  },
  {
    name: 'an operation begins without its fence',
    breaks: /^V(?:7|17) /,
    store: inUnit('turn.end', { writes: without('conversation.fence') }),
  },
  {
    name: 'a summary is booked though it failed',
    // Its next piece is asked of whoever has failed.
    breaks: /^(?:M-14|V5) /,
    parts: withSummary((model) => ({
      ...model,
      call: async (request, live) => booked(model, await model.call(request, live)),
    })),
  },
  {
    name: 'a cut falls between a call and its result',
    breaks: /^M-17 /,
    store: inUnit('maintenance.compact', { writes: cutsEarlier }),
  },
  {
    name: 'the notice of a wait ends a run',
    breaks: /^V10 /,
    store: after('maintenance.tell', endsRuns),
  },
  {
    name: 'a failure of a step is not counted',
    breaks: /^(?:V5|V17) /,
    store: inUnit('maintenance.compact', {
      writes: saving((row) =>
        row.state === 'waiting'
          ? { ...row, failures: row.failures - 1, lifetimeFailures: row.lifetimeFailures - 1 }
          : row,
      ),
    }),
  },
  {
    name: 'a next try is made before its time',
    breaks: /^M-3 /,
    store: hurries,
  },
  {
    name: 'a block is told twice',
    breaks: /^V8 /,
    store: (store, host) =>
      ['maintenance.reserve', 'maintenance.compact', 'maintenance.close'].reduce(
        (inner, name) => inUnit(name, { writes: tellsBlockTwice })(inner, host),
        store,
      ),
  },
  {
    name: 'an uncertain step of a native runtime is made again',
    breaks: /^(?:M-6|V5) /,
    parts: (parts) => {
      const [{ runtime, ...first }, ...rest] = parts.agents;
      if (runtime === undefined) return parts;
      const insisting: typeof runtime = {
        ...runtime,
        compact: async (session, signal) => {
          const outcome = await runtime.compact(session, signal);
          return outcome.kind === 'rejected' ? runtime.compact(session, signal) : outcome;
        },
      };
      return { ...parts, agents: [{ ...first, runtime: insisting }, ...rest] };
    },
  },
  {
    name: 'the facts of a shortened session are left to its summary',
    breaks: /^M-17 /,
    parts: withModel((model) => ({
      ...model,
      call: (request, live) => model.call(withoutFacts(request), live),
    })),
  },
  {
    name: 'what its provider found too long is sent again',
    breaks: /^(?:M-13|T-18) /,
    parts: withModel((model) => ({
      ...model,
      call: async (request, live) => {
        const outcome = await model.call(request, live);
        const isTooLong = outcome.kind === 'fault' && outcome.code === 'context_too_long';
        return isTooLong ? { ...outcome, class: 'transient', code: 'http_500' } : outcome;
      },
    })),
  },
];

/** After each unit of this name, and by what its reads name, something more is done. */
function after(
  name: string,
  more: (store: Store, reads: UnitReads) => Promise<void>,
): NonNullable<Defect['store']> {
  return (store) => ({
    ...passing(store),
    commit: async <R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> => {
      const committed = await store.commit(unit);
      if (unit.name === name && committed.kind !== 'lost')
        await more(store, unit.reads).catch(() => undefined);
      return committed;
    },
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

async function resetCounts(store: Store, reads: UnitReads): Promise<void> {
  const { id } = (reads['conversation']?.args ?? {}) as { readonly id?: ConversationId };
  if (id === undefined) return;
  await store.commit({
    name: 'maintenance.reset',
    reads: { operation: { read: 'operation.newestOf', args: { conversationId: id } } },
    decide: ({ operation }) => {
      if (operation === undefined || !isOpen(operation) || operation.failures === 0)
        return { verdict: undefined, writes: [] };
      const row = { ...operation, version: operation.version + 1, failures: 0 };
      return { verdict: undefined, writes: [{ write: 'operation.save', row }] };
    },
  });
}

async function opensFences(store: Store): Promise<void> {
  const any = { state: 'open', conversationId: '', before: '~', limit: 10 };
  for (const { conversationId: id } of await store.query('operation.list', any)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await store.commit({
      name: 'maintenance.open',
      reads: {},
      decide: () => ({
        verdict: undefined,
        writes: [{ write: 'conversation.fence', id, fence: 'none', operationId: null }],
      }),
    });
  }
}

async function endsRuns(store: Store, reads: UnitReads): Promise<void> {
  const { id } = (reads['conversation']?.args ?? {}) as { readonly id?: ConversationId };
  if (id === undefined) return;
  await store.commit({
    name: 'maintenance.end',
    reads: {
      operation: { read: 'operation.newestOf', args: { conversationId: id } },
      runs: { read: 'run.openOf', args: { conversationId: id, limit: 5 } },
    },
    decide: ({ operation, runs }, { now: endedAt }) => {
      const outcomeId = operation?.noticeId ?? null;
      const end = (run: RunRecord): Write => ({
        write: 'run.end',
        id: run.id,
        state: 'failed',
        outcomeCode: 'exhausted',
        outcomeId,
        endedAt,
      });
      return { verdict: undefined, writes: runs.map(end) };
    },
  });
}

/** Whoever asks how an operation stands hears of what it failed. */
function throwsStored(store: Store): Store {
  return {
    ...passing(store),
    query: async (read, args) => {
      const rows = await store.query(read, args);
      const row = rows as OperationRecord | undefined;
      const isAsked = read === 'operation.newestOf' || read === 'operation.byId';
      if (isAsked && row?.fault != null && row.state !== 'running')
        throw new Error(`the stored error: ${row.fault}`);
      return rows;
    },
  };
}

/** What waits behind a fence looks like what may be claimed. */
function claimsBehind(store: Store): Store {
  const claiming = inUnit('turn.claim', {
    rows: (rows) => {
      const { inputs = [], behind = [] } = rows as Readonly<Record<string, readonly unknown[]>>;
      const open = patch('conversation', { fence: 'none' })(rows);
      return { ...open, inputs: inputs.length > 0 ? inputs : genuine(behind) };
    },
  })(store, undefined as never);
  return {
    ...passing(claiming),
    commit: (unit) => {
      const { conversation } = unit.reads;
      if (unit.name !== 'turn.claim' || conversation === undefined) return store.commit(unit);
      const { id: conversationId } = conversation.args as { readonly id: ConversationId };
      const behind = { read: 'message.unbound', args: { conversationId, limit: 5 } } as const;
      return claiming.commit({ ...unit, reads: { ...unit.reads, behind } });
    },
    query: async (read, args) => {
      const rows = await store.query(read, args);
      if (read !== 'message.claimable' || (rows as readonly unknown[]).length > 0) return rows;
      const { conversationId } = args as { readonly conversationId: ConversationId };
      return genuine(await store.query('message.unbound', { conversationId, limit: 5 })) as never;
    },
  };
}

function genuine(messages: readonly unknown[]): readonly unknown[] {
  return (messages as readonly MessageRecord[])
    .filter(({ kind }) => kind === 'genuine')
    .slice(0, 1);
}

/** The reservation is answered and never committed. */
function reservesNothing(store: Store): Store {
  return {
    ...passing(store),
    commit: async <R extends UnitReads, V>(unit: Unit<R, V>): Promise<Committed<V>> => {
      if (unit.name !== 'maintenance.reserve') return store.commit(unit);
      return store.commit({
        ...unit,
        decide: (rows, at) => {
          const decision = unit.decide(rows, at);
          const { kind } = decision.verdict as { readonly kind: string };
          return kind === 'reserved' ? { ...decision, writes: [] } : decision;
        },
      });
    },
  };
}

/** Whatever waits is due. */
function hurries(store: Store): Store {
  const due = (row: OperationRecord): OperationRecord =>
    row.state === 'waiting' ? { ...row, nextAttemptAt: 0 } : row;
  const reserving = inUnit('maintenance.reserve', {
    rows: (rows) => {
      const { operation } = rows as { readonly operation?: OperationRecord };
      return operation === undefined ? rows : { ...rows, operation: due(operation) };
    },
  })(store, undefined as never);
  return {
    ...passing(reserving),
    query: async (read, args) => {
      if (read !== 'operation.due') return store.query(read, args);
      const all = await store.query(read, { ...args, now: Number.MAX_SAFE_INTEGER });
      return (all as readonly OperationRecord[]).map(due) as never;
    },
  };
}

/** One place too early: the last result before the cut stays, and its call goes. */
function cutsEarlier(writes: readonly Write[]): readonly Write[] {
  return writes.map((write) => {
    if (write.write === 'session.seed') return { ...write, cutSeq: write.cutSeq - 1 };
    if (write.write !== 'event.insert' || write.row.type !== 'session.compacted') return write;
    const data = JSON.parse(write.row.data ?? '{}') as { readonly cutSeq: number };
    const earlier = JSON.stringify({ ...data, cutSeq: data.cutSeq - 1 });
    return { ...write, row: { ...write.row, data: earlier } };
  });
}

const tellsBlockTwice: WritesChange = (writes) => {
  const isBlock = writes.some(
    (write) => write.write === 'outbox.insert' && write.row.level === 'blocked',
  );
  return isBlock ? tellTwice(writes) : writes;
};

/** The words of the host that a session which was shortened is told. */
function withoutFacts(request: ModelRequest): ModelRequest {
  const messages = request.messages.filter(
    ({ text }) => !text.startsWith('The host’s own records'),
  );
  return messages.length === 0 ? request : { ...request, messages };
}

function booked({ provider, name: model }: Model, outcome: ModelOutcome): ModelOutcome {
  if (outcome.kind === 'reply') return outcome;
  const text = JSON.stringify({ summary: 'nothing of note' });
  const usage = { inputTokens: 1, outputTokens: 1, cost: 0 };
  return { kind: 'reply', provider, model, text, calls: [], stop: 'end', usage };
}

function withSummary(change: (model: Model) => Model): (parts: EngineParts) => EngineParts {
  return (parts) => ({ ...parts, summary: change(parts.summary) });
}

function withModel(change: (model: Model) => Model): (parts: EngineParts) => EngineParts {
  return (parts) => {
    const [first, ...rest] = parts.agents;
    return { ...parts, agents: [{ ...first, model: change(first.model) }, ...rest] };
  };
}
