import { enrolWorker } from '../../core/boundary/judge.ts';
import type { Read, Unit, Write } from '../../ports/store.ts';

type WorkersReads = {
  readonly workers: Read<'boundary.unowned'>;
  readonly owners: Read<'boundary.owners'>;
};

/**
 * Judges the next batch of unmarked workers without an end, by their tasks as they are marked then (B-9).
 * Gives how many they were. A worker stands in no conversation: its record alone tells its mark.
 */
export function workersUnit(limit: number): Unit<WorkersReads, number> {
  return {
    name: 'boundary.workers',
    reads: {
      workers: { read: 'boundary.unowned', args: { limit } },
      owners: { read: 'boundary.owners', args: { limit } },
    },
    decide: ({ workers, owners }, { now }) => {
      const byId = new Map(owners.map((task) => [task.id, task]));
      const writes = workers.map((worker): Write => {
        const owner = worker.taskId === null ? undefined : byId.get(worker.taskId);
        return { write: 'execution.save', row: enrolWorker(worker, owner, now) };
      });
      return { verdict: workers.length, writes };
    },
  };
}
