import { enrolWorker } from '../../core/boundary/judge.ts';
import type { BoundaryId } from '../../kernel/ids.ts';
import type { Read, Unit, Write } from '../../ports/store.ts';

type WorkersReads = {
  readonly workers: Read<'boundary.unowned'>;
  readonly owners: Read<'boundary.owners'>;
};

/**
 * Judges the next batch of unmarked workers without an end, by their tasks as they are marked then (B-9).
 * Gives how many they were, and the run counts those that are held. A worker stands in no conversation: its record alone tells its mark.
 */
export function workersUnit(id: BoundaryId, limit: number): Unit<WorkersReads, number> {
  return {
    name: 'boundary.workers',
    reads: {
      workers: { read: 'boundary.unowned', args: { limit } },
      owners: { read: 'boundary.owners', args: { limit } },
    },
    decide: ({ workers, owners }, { now }) => {
      const byId = new Map(owners.map((task) => [task.id, task]));
      const judged = workers.map((worker) => {
        const owner = worker.taskId === null ? undefined : byId.get(worker.taskId);
        return enrolWorker(worker, owner, now);
      });
      const verdict = judged.length;
      if (verdict === 0) return { verdict, writes: [] };
      const workersHeld = judged.filter(({ enrollment }) => enrollment === 'held-legacy').length;
      const counted = { write: 'boundary.add', id, held: 0, kept: 0, workersHeld } as const;
      const saved = judged.map((row): Write => ({ write: 'execution.save', row }));
      return { verdict, writes: [...saved, counted] };
    },
  };
}
