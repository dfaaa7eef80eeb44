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
  const asked = { id, kind: 'maintenance operation', list: 'sekisho maintenance' };
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

/** What `find` gives of a conversation; an id that none has ends the command with the way to those that are. */
export async function ofConversation<T>(id: string, find: () => Promise<T>): Promise<T> {
  const asked = { id, kind: 'conversation', list: 'sekisho conversations' };
  return orNearest(asked, find, () => Promise.resolve({ items: [] }));
}

interface Known {
  readonly items: readonly { readonly id: string }[];
}

async function orNearest<T>(
  asked: { readonly id: string; readonly kind: string; readonly list?: string },
  find: () => Promise<T>,
  known: () => Promise<Known>,
): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'not_found') throw error;
    const { id, kind, list } = asked;
    const { items } = await known();
    const way = list === undefined ? '' : `. They are listed by: ${list}`;
    const near = suggestion(
      id,
      items.map((one) => one.id),
    );
    throw new CommandEnd('not_found', `not_found: no ${kind} has the id ${id}${near || way}`);
  }
}
