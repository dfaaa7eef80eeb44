import { waysOfOperation } from '../../core/maintenance/reasons.ts';
import { ABOVE_ALL_IDS, type ConversationId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { blockReason } from '../../text/maintenance-facts.ts';
import { sayCount } from '../../text/number.ts';
import type { EngineParts } from '../engine.ts';
import { readFence, type Fence } from '../maintenance/fence.ts';
import type { Asker } from '../task/nearest.ts';

/** A line about the fence of this conversation and one about those of the installation, where there are any. */
export async function sayFences(
  parts: Pick<EngineParts, 'store'>,
  words: Catalogue,
  conversationId: ConversationId,
): Promise<readonly string[]> {
  const { maintenance } = words;
  const here = await readFence(parts, conversationId);
  const standing = await parts.store.query('operation.standing', {});
  const { running = 0, waiting = 0, blocked = 0 } = standing ?? {};
  const count = (value: number): string => sayCount(words, value);
  const counts = { running: count(running), waiting: count(waiting), blocked: count(blocked) };
  return [
    ...(here === undefined ? [] : [sayHere(words, here)]),
    ...(running + waiting + blocked === 0 ? [] : [maintenance.everywhere(counts)]),
  ];
}

function sayHere({ maintenance }: Catalogue, { isBlocked, operation }: Fence): string {
  const { id, reason } = operation;
  const about = { reason: blockReason(maintenance, reason ?? ''), why: `\`/why ${id}\`` };
  return maintenance.here[isBlocked ? 'blocked' : 'shut'](about);
}

/** The paused conversations of an installation, each with the command that lets it go on: for an admin. */
export async function sayPaused(
  { store }: Pick<EngineParts, 'store'>,
  { maintenance }: Catalogue,
  { principal }: Asker,
): Promise<readonly string[]> {
  if (!principal.isAdmin) return [];
  const asked = { state: 'blocked', conversationId: '', before: ABOVE_ALL_IDS };
  const blocked = await store.query('operation.list', { ...asked, limit: LIMITS.listLimitMax });
  return blocked.map((operation) => {
    const [way] = waysOfOperation(operation);
    return maintenance.decision({
      conversation: operation.conversationId,
      reason: blockReason(maintenance, operation.reason ?? ''),
      command: `\`${way?.command ?? `/why ${operation.id}`}\``,
    });
  });
}
