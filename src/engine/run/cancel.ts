import { refuse, type Refusal } from '../../kernel/fault.ts';
import type { RunId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { EngineParts, Stopped } from '../engine.ts';
import type { OrderHost } from '../inbox/order-host.ts';

/** Cancels a run and its task; a run that has ended keeps its end and is answered as it is (INC-035). */
export async function cancelRun(
  parts: EngineParts,
  orders: Pick<OrderHost, 'stop'>,
  { runId, principal }: { readonly runId: RunId; readonly principal: Principal },
): Promise<Stopped | Refusal> {
  const run = await parts.store.query('run.byId', { id: runId });
  if (run === undefined) return refuse('not_found', { id: runId });
  const { taskId } = run;
  const verdict = await orders.stop({ taskId, principal, channel: 'api', to: 'cancelled' });
  if (verdict.kind !== 'refused' || verdict.code !== 'task_ended') return verdict;
  const task = await parts.store.query('task.byId', { id: taskId });
  return task === undefined ? verdict : { kind: 'stopped', task, running: [] };
}
