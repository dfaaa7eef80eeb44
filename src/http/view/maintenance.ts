import type { OperationRecord } from '../../core/maintenance/record.ts';
import { isOpen } from '../../core/maintenance/decide.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { Engine } from '../../engine/engine.ts';
import { sayOperationWays } from '../../engine/maintenance/operation-ways.ts';
import { sayOperation } from '../../engine/maintenance/standing-sentence.ts';
import { explainOperation } from '../../engine/maintenance/why.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { catalogueOf } from '../../text/reader.ts';
import type { MaintenanceShape, OperationReply } from '../../wire/maintenance.ts';
import type { CommandShape } from '../../wire/task.ts';
import { iso, isoOrNull } from '../call.ts';

/** An operation as its record has it, without the sentence that says how it stands now. */
export type OperationFacts = Omit<OperationReply, 'sentence'>;

export function viewOperationFacts(engine: Engine, row: OperationRecord): OperationFacts {
  const { id, conversationId, sessionId, nextSessionId, kind, step, state, reason } = row;
  const { epoch, failures, lifetimeFailures, version } = row;
  return {
    id,
    conversationId,
    sessionId,
    nextSessionId,
    kind,
    step,
    state,
    reason,
    epoch,
    failures,
    lifetimeFailures,
    nextAttemptAt: isoOrNull(row.nextAttemptAt),
    fault: faultOf(row),
    sizes: sizesOf(row),
    commands: commandsOf(engine, row),
    version,
    createdAt: iso(row.createdAt),
    changedAt: iso(row.changedAt),
    endedAt: isoOrNull(row.endedAt),
  };
}

/** An operation with how it stands, in the host's language. */
export async function viewOperation(engine: Engine, row: OperationRecord): Promise<OperationReply> {
  const { parts } = engine;
  const { locale, timeZone } = parts.options;
  const explanation = await explainOperation(parts, row.id, { locale, timeZone });
  const sentence = explanation?.sentence ?? (await sayBriefly(engine, row));
  return { ...viewOperationFacts(engine, row), sentence };
}

/** As lists show it: the sentence is made of the record alone, whatever lies behind the operation. */
export async function viewOperationBriefly(
  engine: Engine,
  row: OperationRecord,
): Promise<OperationReply> {
  return { ...viewOperationFacts(engine, row), sentence: await sayBriefly(engine, row) };
}

/** How an operation stands, among other things that stand somehow. */
export async function sayBriefly({ parts }: Engine, operation: OperationRecord): Promise<string> {
  const { store, options, clock } = parts;
  const { id, conversationId } = operation;
  const { locale, timeZone } = options;
  const words = catalogueOf(locale);
  const telling = { words, reader: { locale, timeZone }, now: clock.now() };
  const conversation = isOpen(operation)
    ? await store.query('conversation.byId', { id: conversationId })
    : undefined;
  const isHeld = conversation?.operationId === id;
  const unbound = isHeld
    ? await store.query('message.unbound', { conversationId, limit: LIMITS.listLimitMax })
    : [];
  return sayOperation(telling, { operation, events: [], isHeld, kept: unbound.length }, true);
}

function faultOf({ fault }: OperationRecord): OperationReply['fault'] {
  const { code, said } = readObject(fault);
  if (typeof code !== 'string') return null;
  return { code, said: typeof said === 'string' ? said : '' };
}

/** Of one whose fixed base does not fit; a size that an import left out counts as nothing. */
function sizesOf({ fault }: OperationRecord): OperationReply['sizes'] {
  const sizes = readObject(fault);
  if (typeof sizes['window'] !== 'number') return null;
  const of = (name: string): number => {
    const size = sizes[name];
    return typeof size === 'number' ? Math.round(size) : 0;
  };
  return {
    window: of('window'),
    reserve: of('reserve'),
    instructions: of('instructions'),
    tools: of('tools'),
    seed: of('seed'),
    message: of('message'),
  };
}

function commandsOf({ parts }: Engine, row: OperationRecord): CommandShape[] {
  return [...sayOperationWays(catalogueOf(parts.options.locale), row)];
}

/** How the upkeep of a conversation's context stands (M-9); null while its fence is open. */
export async function viewMaintenance(
  engine: Engine,
  { id, fence }: ConversationRecord,
): Promise<MaintenanceShape | null> {
  if (fence === 'none') return null;
  const { state, operation, reason, failures, lifetimeFailures, nextAttemptAt } =
    await engine.recoveryStatus(id);
  if (operation === null || state === 'none') return null;
  return {
    operationId: operation.id,
    state,
    reason,
    failures,
    lifetimeFailures,
    nextAttemptAt: isoOrNull(nextAttemptAt),
    version: operation.version,
    commands: commandsOf(engine, operation),
  };
}
