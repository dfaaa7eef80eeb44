import type { BoundaryRecord } from '../../core/boundary/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { settle } from '../settle.ts';
import { tasksUnit } from './tasks.ts';
import { workersUnit } from './workers.ts';

/**
 * Marks everything that came with an import, before anything of it is released (B-2): what is proven to be
 * ongoing stays current, all other unresolved work is held. Its row is committed first and its end last, in
 * between a batch at a time with its count; killed anywhere and run again it comes to the same. Where nothing is unmarked
 * it is one read of its indexes. Undefined then; else the record of the run that was completed.
 */
export async function runBoundary(
  parts: Pick<EngineParts, 'store' | 'clock' | 'log'>,
  hostId: HostId,
): Promise<BoundaryRecord | undefined> {
  const begun = await settle(parts, beginUnit);
  if (begun === undefined) return undefined;
  const limit = LIMITS.boundaryBatch;
  while ((await settle(parts, () => tasksUnit(hostId, begun.id, limit))) > 0);
  // A worker is judged by its task, which has its mark by now.
  while ((await settle(parts, () => workersUnit(begun.id, limit))) > 0);
  const ended = await settle(parts, () => endUnit(begun));
  const { held, kept, workersHeld } = ended;
  parts.log.info('the historical boundary is drawn', { id: ended.id, held, kept, workersHeld });
  return ended;
}

type BeginReads = {
  readonly last: Read<'boundary.last'>;
  readonly tasks: Read<'boundary.tasks'>;
  readonly workers: Read<'boundary.unowned'>;
};

/** The run that is to be made: one that was cut goes on. */
function beginUnit(): Unit<BeginReads, BoundaryRecord | undefined> {
  return {
    name: 'boundary.begin',
    reads: {
      last: { read: 'boundary.last', args: {} },
      // The first of what is unmarked lets one host at a time look whether there is a run: two that
      // start at once make one.
      tasks: { read: 'boundary.tasks', args: { limit: 1 }, alone: true },
      workers: { read: 'boundary.unowned', args: { limit: 1 }, alone: true },
    },
    decide: ({ last, tasks, workers }, { now, ids }) => {
      if (last !== undefined && last.endedAt === null) return { verdict: last, writes: [] };
      if (tasks.length + workers.length === 0) return { verdict: undefined, writes: [] };
      const id = ids.next('boundary');
      const open = { startedAt: now, endedAt: null, toldAt: null };
      const row: BoundaryRecord = { id, ...open, held: 0, kept: 0, workersHeld: 0 };
      return { verdict: row, writes: [{ write: 'boundary.insert', row }] };
    },
  };
}

type EndReads = { readonly last: Read<'boundary.last'> };

/** The end of a run; one that another host has ended keeps its end. */
function endUnit(begun: BoundaryRecord): Unit<EndReads, BoundaryRecord> {
  return {
    name: 'boundary.end',
    reads: { last: { read: 'boundary.last', args: {} } },
    decide: ({ last = begun }, { now: endedAt }) => {
      // One without an end is read before any other.
      if (last.endedAt !== null) return { verdict: last, writes: [] };
      const write = { write: 'boundary.end', id: last.id, endedAt } as const;
      return { verdict: { ...last, endedAt }, writes: [write] };
    },
  };
}
