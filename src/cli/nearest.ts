import { ApiProblem, type Client } from '../client/client.ts';
import { suggestion } from '../compose/nearest.ts';
import { LIMITS } from '../kernel/limits.ts';
import { CommandEnd } from './exit.ts';

/** What `find` gives; an id that no task has ends the command with the nearest that one has (W-5). */
export async function taskOrNearest<T>(
  client: Client,
  id: string,
  find: () => Promise<T>,
): Promise<T> {
  const asked = { id, kind: 'task' };
  return orNearest(asked, find, () => client.tasks({ limit: LIMITS.listLimitMax }));
}

/** As `taskOrNearest`, for an approval. */
export async function approvalOrNearest<T>(
  client: Client,
  id: string,
  find: () => Promise<T>,
): Promise<T> {
  const asked = { id, kind: 'approval' };
  return orNearest(asked, find, () => client.approvals({ limit: LIMITS.listLimitMax }));
}

/** As `taskOrNearest`, for a worker. */
export async function workerOrNearest<T>(
  client: Client,
  id: string,
  find: () => Promise<T>,
): Promise<T> {
  const asked = { id, kind: 'worker' };
  return orNearest(asked, find, () => client.workers({ limit: LIMITS.listLimitMax }));
}

/** As `taskOrNearest`, for a maintenance operation. */
export async function operationOrNearest<T>(
  client: Client,
  id: string,
  find: () => Promise<T>,
): Promise<T> {
  const asked = { id, kind: 'maintenance operation' };
  return orNearest(asked, find, () => client.operations({ limit: LIMITS.listLimitMax }));
}

/** As `taskOrNearest`, for a run. */
export async function runOrNearest<T>(
  client: Client,
  id: string,
  find: () => Promise<T>,
): Promise<T> {
  const asked = { id, kind: 'run' };
  return orNearest(asked, find, () => client.runs({ limit: LIMITS.listLimitMax }));
}

interface Known {
  readonly items: readonly { readonly id: string }[];
}

async function orNearest<T>(
  { id, kind }: { readonly id: string; readonly kind: string },
  find: () => Promise<T>,
  known: () => Promise<Known>,
): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'not_found') throw error;
    const { items } = await known();
    const near = suggestion(
      id,
      items.map((one) => one.id),
    );
    throw new CommandEnd('not_found', `not_found: no ${kind} has the id ${id}${near}`);
  }
}
