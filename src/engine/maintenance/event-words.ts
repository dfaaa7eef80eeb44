import { MAX_RECOVERY_FAILURES } from '../../core/maintenance/record.ts';
import type { EventRecord } from '../../core/session/record.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { blockReason, sayFault, sayStep } from '../../text/maintenance-facts.ts';
import { sayCount } from '../../text/number.ts';

/**
 * What an event of maintenance came to, as a whole sentence: empty of every other event, and of what a
 * newer version wrote.
 */
export function sayMaintained(
  words: Catalogue,
  event: Pick<EventRecord, 'type' | 'toState' | 'reason'>,
  data: JsonObject,
): string {
  const { maintenance } = words;
  switch (event.type) {
    case 'operation.started':
      return wordOf(maintenance.occasions, textIn(data, 'cause'));
    case 'operation.moved':
      return sayMoved(words, event, data);
    case 'conversation.fence':
      return wordOf(maintenance.fences, event.toState ?? '');
    case 'session.started':
      return textIn(data, 'previousId') === '' ? '' : maintenance.nextSession;
    default:
      return '';
  }
}

/** The step that an event names, as a noun phrase; empty where it names none. */
export function sayStepIn({ maintenance }: Catalogue, data: JsonObject): string {
  const step = textIn(data, 'step');
  return step === '' ? '' : sayStep(maintenance, step);
}

function sayMoved(
  words: Catalogue,
  { toState, reason }: Pick<EventRecord, 'toState' | 'reason'>,
  data: JsonObject,
): string {
  const { maintenance } = words;
  const state = toState ?? '';
  switch (state) {
    case 'running':
      return maintenance.goesOn(sayStepIn(words, data));
    case 'waiting':
      return sayWaits(words, data);
    case 'blocked':
      return maintenance.blocked(blockReason(maintenance, reason ?? ''));
    case 'done':
    case 'dropped':
      return maintenance[state];
    default:
      return '';
  }
}

function sayWaits(words: Catalogue, data: JsonObject): string {
  const { maintenance } = words;
  const { quotaWaits } = data;
  if (typeof quotaWaits === 'number' && quotaWaits > 0) return maintenance.quota;
  return textIn(data, 'code') === '' ? maintenance.waits : sayFailed(words, data);
}

function sayFailed(words: Catalogue, data: JsonObject): string {
  const { failures } = data;
  return words.maintenance.failed({
    fault: sayFault(words, { code: textIn(data, 'code'), said: textIn(data, 'said') }),
    failures: typeof failures === 'number' ? sayCount(words, failures) : '…',
    max: sayCount(words, MAX_RECOVERY_FAILURES),
  });
}

function textIn(data: JsonObject, key: string): string {
  const value = data[key];
  return typeof value === 'string' ? value : '';
}

/** The word for a code of a table; empty for one that a newer version wrote. */
function wordOf(table: Readonly<Record<string, string>>, code: string): string {
  return (Object.hasOwn(table, code) ? table[code] : undefined) ?? '';
}
