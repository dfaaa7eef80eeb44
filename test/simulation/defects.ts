// Planted defects, one line each: what the simulation has to catch in its turns, stops and takeovers.
import type { Store } from '../../src/ports/store.ts';
import { MAINTENANCE_DEFECTS } from './defects-maintenance.ts';
import { MEETING_DEFECTS } from './defects-meetings.ts';
import { RECOVERY_DEFECTS } from './defects-recovery.ts';
import {
  inUnit,
  mapWrite,
  patch,
  tellTwice,
  without,
  withTools,
  type Defect,
  type DefectHost,
  type Claimed,
  type Loose,
  type RowsChange,
} from './planting.ts';

export const DEFECTS: readonly Defect[] = [
  {
    name: 'a turn that was taken over or stopped still writes its steps',
    breaks: /^(?:(?:V14|V17|V19|V3) |logged: .*a turn runs only for an active task)/,
    store: looksPastTheFence('turn.step'),
  },
  {
    name: 'a turn that was taken over or stopped still writes its end',
    // The engine's own assertion may see it first.
    breaks: /^(?:(?:V17|V18|V19|V2) |logged: .*a turn runs only for an active task)/,
    store: looksPastTheFence('turn.end'),
  },
  {
    name: 'a claim looks past the turn that has the conversation',
    breaks: /^V3/,
    store: inUnit('turn.claim', { rows: patch('conversation', { turnId: null }) }),
  },
  {
    name: 'a redelivered message is not recognised',
    // Its own earlier effect is not recognised either: it is decided again for ever.
    breaks: /^V(?:1|20) /,
    store: inUnit('inbox.accept', {
      rows: (rows) => ({ ...rows, known: undefined, used: undefined }),
      writes: mapWrite('message.insert', (write) => ({
        ...write,
        row: { ...write.row, externalId: `${write.row.externalId} ${write.row.id}` },
      })),
    }),
  },
  {
    name: 'the newest input is taken up first',
    breaks: /^T-10 /,
    store: newestFirst,
  },
  {
    name: 'a message is acknowledged before its commit',
    breaks: /^T-1 /,
    store: acknowledgeEarly,
  },
  {
    name: 'a tool call is made again after its end',
    breaks: /^V[34]/,
    parts: withTools((tools) => ({
      ...tools,
      run: async (call, signal, approved) => {
        await tools.run(call, signal, approved);
        return tools.run(call, signal, approved);
      },
    })),
  },
  {
    name: 'a takeover does not take the next token',
    breaks: /^V1[79]/,
    store: inUnit('turn.close', {
      writes: mapWrite('conversation.advance', (write) => ({ ...write, token: write.token - 1 })),
    }),
  },
  {
    name: 'a takeover does not look whether the host lives',
    breaks: /^R-14/,
    store: looksAtNoLease,
  },
  {
    name: 'nobody is asked about a call whose outcome is unknown',
    breaks: /^E-2 .* was asked about 0 times/,
    store: inUnit('turn.close', { writes: without('approval.insert') }),
  },
  {
    name: 'a recovery calls an uncertain call cut',
    breaks: /^E-2/,
    store: inUnit('turn.close', {
      writes: mapWrite('step.finish', (write) =>
        write.row.state === 'uncertain' ? { ...write, row: { ...write.row, state: 'cut' } } : write,
      ),
    }),
  },
  {
    name: 'an uncertain effect is told twice',
    breaks: /^V8/,
    store: inUnit('turn.close', { writes: tellTwice }),
  },
  {
    name: 'a stop leaves the running turn its right to write',
    breaks: /^(?:V17|V14|V19) /,
    store: inUnit('task.stop', {
      writes: (writes) =>
        mapWrite('conversation.advance', (write) => ({ ...write, token: write.token - 1 }))(
          without('turn.stopping')(writes, {}),
          {},
        ),
    }),
  },
  {
    name: 'a stop moves a task that has ended',
    breaks: /^V18/,
    store: inUnit('task.stop', {
      rows: (rows) => (hasEnded(rows) ? patch('task', { state: 'active' })(rows) : rows),
    }),
  },
  {
    name: 'a claim leaves its message unclaimed',
    breaks: /^V2/,
    store: inUnit('turn.claim', { writes: without('message.claim') }),
  },
  {
    name: 'a claim does not count its turn',
    breaks: /^V17/,
    store: inUnit('turn.claim', {
      writes: mapWrite('task.save', (write) => ({
        ...write,
        row: { ...write.row, turnsUsed: write.row.turnsUsed - 1 },
      })),
    }),
  },
  {
    name: 'corrections are not counted',
    breaks: /^V17/,
    store: inUnit('turn.end', { rows: patch('task', { correctionsUsed: 0 }) }),
  },
  {
    name: 'an answered turn leaves its messages open',
    breaks: /^V14/,
    store: inUnit('turn.end', { writes: without('message.done') }),
  },
  {
    name: 'an ended task leaves its run open',
    breaks: /^T-16/,
    store: inUnit('turn.end', { writes: without('run.end') }),
  },
  {
    name: 'a command is answered without being closed',
    breaks: /^V20/,
    store: inUnit('command.answer', { writes: without('message.done') }),
  },
  ...MEETING_DEFECTS,
  ...RECOVERY_DEFECTS,
  ...MAINTENANCE_DEFECTS,
];

function hasEnded(rows: Loose): boolean {
  return (rows['task'] as Loose | undefined)?.['endedAt'] != null;
}

/** The conversation as this host's last claim left it, whatever came after. */
function looksPastTheFence(name: string): NonNullable<Defect['store']> {
  return (store) => {
    const claims = new Map<unknown, { readonly id: unknown; readonly token: unknown }>();
    const forge: RowsChange = (rows) => {
      const conversation = rows['conversation'] as Loose;
      const claim = claims.get(conversation['id']);
      if (claim === undefined) return rows;
      return { ...rows, conversation: { ...conversation, turnId: claim.id, token: claim.token } };
    };
    const forging = inUnit(name, { rows: forge })(store, undefined as never);
    return {
      ...forging,
      commit: async (unit) => {
        const committed = await forging.commit(unit);
        if (unit.name !== 'turn.claim' || committed.kind === 'lost') return committed;
        // A claim that found nothing says so in another way.
        const turn = (committed.verdict as Partial<Claimed> | undefined)?.turn;
        if (turn !== undefined) claims.set(turn.conversationId, turn);
        return committed;
      },
    };
  };
}

/** Every turn of another host looks like one that is left behind. */
function looksAtNoLease(store: Store): Store {
  const closing = inUnit('turn.close', { rows: (rows) => ({ ...rows, host: undefined }) });
  return {
    ...closing(store, undefined as never),
    query: (read, args) =>
      read === 'turn.openElsewhere'
        ? store.query(read, { ...args, deadBefore: Number.MAX_SAFE_INTEGER })
        : store.query(read, args),
  };
}

/** A queue that is read from its end. */
function newestFirst(store: Store): Store {
  const newest: RowsChange = (rows) => ({
    ...rows,
    inputs: (rows['inputs'] as readonly unknown[]).toReversed(),
  });
  const claiming = inUnit('turn.claim', { rows: newest })(store, undefined as never);
  return {
    ...claiming,
    commit: (unit) => {
      const { inputs } = unit.reads;
      if (unit.name !== 'turn.claim' || inputs === undefined) return claiming.commit(unit);
      const all = { ...inputs, args: { ...inputs.args, limit: 20 } };
      return claiming.commit({ ...unit, reads: { ...unit.reads, inputs: all } });
    },
    query: async (read, args) => {
      if (read !== 'message.claimable') return store.query(read, args);
      const all = (await store.query(read, { ...args, limit: 20 })) as readonly unknown[];
      return all.slice(-1) as never;
    },
  };
}

/** Answers what a message's unit would decide, and commits it a moment later. */
function acknowledgeEarly(store: Store, host: DefectHost): Store {
  return {
    traits: store.traits,
    query: (read, args) => store.query(read, args),
    close: () => store.close(),
    commit: async (unit) => {
      if (unit.name !== 'inbox.accept') return store.commit(unit);
      let decided: ReturnType<typeof unit.decide> | undefined;
      const look = {
        ...unit,
        decide: (rows: never, at: never) => ({ ...(decided = unit.decide(rows, at)), writes: [] }),
      };
      const answer = await store.commit(look);
      const later = {
        ...unit,
        decide: () => decided ?? { verdict: undefined as never, writes: [] },
      };
      const { epoch, scheduler } = host;
      void scheduler
        .call({ epoch, label: 'commit what was acknowledged', delay: 50 }, () => undefined)
        .then(() => store.commit(later as typeof unit))
        .catch(() => undefined);
      return answer;
    },
  };
}
