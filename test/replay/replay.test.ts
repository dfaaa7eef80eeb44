import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { EngineParts } from '../../src/engine/engine.ts';
import type { Recording } from '../../src/engine/replay/recording.ts';
import type { Store, Unit, UnitReads, Write } from '../../src/ports/store.ts';
import { play, RecordedInstallation } from './recorded.ts';
import { tell } from './story.ts';

describe('a recorded conversation', () => {
  let home: RecordedInstallation;
  let recording: Recording;
  before(async () => {
    home = new RecordedInstallation();
    recording = await home.recording(await tell(home));
  });
  after(() => home[Symbol.asyncDispose]());

  /** The place of the first event of this type behind another place. */
  const placeOf = (type: string, more: (event: Recording['event'][number]) => boolean): number => {
    const found = recording.event.find((event) => event.type === type && more(event));
    assert.ok(found, type);
    return found.seq;
  };

  test('is decided as it was, in each of its commits', async () => {
    const { end, decisions } = await play(recording);
    assert.deepEqual(end, { kind: 'same', decisions: decisions.length });
    const seqs = decisions.flatMap(({ entries }) => entries.map(({ seq }) => seq));
    assert.deepEqual(
      seqs,
      Array.from({ length: recording.conversation.seq }, (_, at) => at + 1),
    );
    const units = new Set(decisions.map(({ unit }) => unit));
    for (const unit of [
      'turn.step',
      'approval.answer',
      'task.due',
      'maintenance.compact',
      'turn.close',
      'recovery.record',
    ])
      assert.ok(units.has(unit), unit);
  });

  test('shows the very decision that another version makes differently', async () => {
    const waits = placeOf('task.moved', ({ reason }) => reason === 'awaits_instant');
    const { end } = await play(recording, { change: blocksInstead });
    assert.ok(end.kind === 'differs');
    const [here] = end.instead;
    const differs = end.recorded[here?.alike ?? 0];
    assert.equal(differs?.seq, waits);
    assert.equal(differs?.facts['to'], 'waiting');
    assert.equal(here?.unit, 'turn.end');
    assert.equal(here?.entries[here.alike]?.facts['to'], 'blocked');
  });

  test('shows an approval that another version does not ask for, and runs nothing', async () => {
    const asked = placeOf('approval.asked', () => true);
    const { end } = await play(recording, { change: asksNobody });
    assert.ok(end.kind === 'differs');
    assert.deepEqual(end.instead, []);
    assert.equal(end.recorded[1]?.seq, asked);
    assert.match(end.remarks.join('\n'), /It runs note .*, which the record has not run here/);
  });

  test('shows an order of a person that another version refuses', async () => {
    const decided = placeOf('approval.decided', () => true);
    const { end } = await play(recording, { change: answersNoApproval });
    assert.ok(end.kind === 'differs');
    assert.equal(end.recorded[0]?.seq, decided);
    assert.match(end.remarks.join('\n'), /refuses what was ordered: forbidden/);
  });

  test('is not replayed past an event that is missing, nor past an answer that is', async () => {
    const event = recording.event.filter(({ type }) => type !== 'approval.decided');
    const missing = placeOf('approval.decided', () => true);
    const { end } = await play({ ...recording, event });
    assert.ok(end.kind === 'cannot');
    assert.deepEqual([end.obstacle.code, end.obstacle.seq], ['gap', missing]);
    const cut = await play({ ...recording, event: recording.event.slice(0, -1) });
    assert.ok(cut.end.kind === 'cannot' && cut.end.obstacle.seq === recording.conversation.seq);
    const [emptied] = recording.step.filter(({ kind }) => kind === 'tool');
    const step = recording.step.map((one) => (one === emptied ? { ...one, output: null } : one));
    const without = await play({ ...recording, step });
    assert.ok(without.end.kind === 'cannot' && without.end.obstacle.code === 'no_answer');
    assert.equal(without.end.obstacle.seq, emptied?.finishedSeq);
  });

  test('differs where its record says another thing than its answers led to', async () => {
    const at = placeOf('task.moved', ({ toState }) => toState === 'completed');
    const event = recording.event.map((one) =>
      one.seq === at ? { ...one, toState: 'failed', reason: 'no_outcome' } : one,
    );
    const { end } = await play({ ...recording, event });
    assert.ok(end.kind === 'differs');
    assert.equal(end.recorded[end.instead[0]?.alike ?? 0]?.seq, at);
  });
});

/** Changes what every decision of a unit writes. */
function changed(parts: EngineParts, name: string, change: (write: Write) => Write): EngineParts {
  const { store } = parts;
  const commit: Store['commit'] = <R extends UnitReads, V>(unit: Unit<R, V>) =>
    store.commit(
      unit.name !== name
        ? unit
        : {
            ...unit,
            decide: (rows, at) => {
              const decision = unit.decide(rows, at);
              return { ...decision, writes: decision.writes.map(change) };
            },
          },
    );
  const query: Store['query'] = (read, args) => store.query(read, args);
  return { ...parts, store: { traits: store.traits, commit, query, close: () => store.close() } };
}

/** A version in which a task that sets a wait is blocked. */
function blocksInstead(parts: EngineParts): EngineParts {
  return changed(parts, 'turn.end', (write) =>
    write.write === 'event.insert' && write.row.reason === 'awaits_instant'
      ? { ...write, row: { ...write.row, toState: 'blocked', reason: 'no_outcome' } }
      : write,
  );
}

/** A version whose tools need no approval. */
function asksNobody(parts: EngineParts): EngineParts {
  const [agent] = parts.agents;
  const { tools } = agent;
  const open = {
    list: tools.list,
    examine: () => Promise.resolve({ needsApproval: false, approver: 'any', shown: null } as const),
    run: tools.run.bind(tools),
  };
  return { ...parts, agents: [{ ...agent, tools: open }] };
}

/** A version in which nobody may answer an approval. */
function answersNoApproval(parts: EngineParts): EngineParts {
  const { store } = parts;
  const commit = (async (unit: Unit<UnitReads, unknown>) =>
    unit.name === 'approval.answer'
      ? {
          kind: 'done',
          verdict: { kind: 'refused', code: 'forbidden', detail: {} },
          now: parts.clock.now(),
        }
      : store.commit(unit)) as Store['commit'];
  const query: Store['query'] = (read, args) => store.query(read, args);
  return { ...parts, store: { traits: store.traits, commit, query, close: () => store.close() } };
}
