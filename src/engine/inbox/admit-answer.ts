import type { Command } from '../../core/inbox/command.ts';
import type { MessageRecord } from '../../core/inbox/record.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import { sayStep } from '../../text/maintenance-facts.ts';
import { catalogueOf } from '../../text/reader.ts';
import { renderRefusal } from '../../text/render.ts';
import type { EngineParts } from '../engine.ts';
import type { CommandHost } from './order-host.ts';
import { senderOf } from './sender.ts';
import { findOperation } from './subject.ts';

/**
 * Gives the admission that a command asks for and says what came of it (M-7). The message is its receipt:
 * a second call after a crash says the same.
 */
export async function giveAdmission(
  { parts, orders }: CommandHost,
  message: MessageRecord,
  { id: typed, as }: Extract<Command, { readonly kind: 'admit' }>,
): Promise<string> {
  const { options, clock } = parts;
  const found = await findOperation(parts, message, typed);
  if (found.kind === 'refused')
    return renderRefusal(options, found.code, found.detail, clock.now());
  const { id: receiptId, at: commandAt, channel } = message;
  const isHere = found.conversationId === message.conversationId;
  const principal = senderOf(message);
  const given = { operationId: found.id, as, principal, channel, receiptId, commandAt };
  const verdict = await orders.admit(isHere ? { ...given, commandId: receiptId } : given);
  if (verdict.kind === 'refused')
    return renderRefusal(options, verdict.code, verdict.detail, clock.now());
  return sayAdmitted(parts, verdict.operation, as);
}

/** What whoever admitted an operation is answered. */
export function sayAdmitted(
  { options }: Pick<EngineParts, 'options'>,
  { step }: Pick<OperationRecord, 'step'>,
  as: 'handover' | undefined,
): string {
  const { maintenance } = catalogueOf(options.locale);
  if (as === 'handover') return maintenance.admittedHandover;
  return maintenance.admitted(sayStep(maintenance, step));
}
