import type { EventRecord } from '../../core/session/record.ts';
import { EVENTS, type EventType } from '../../kernel/event.ts';
import { readObject, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { cutName, quoteWords } from '../../text/quote.ts';
import { quoteReason, sayOutcome } from '../../text/recovery-facts.ts';
import { absenceIn, inWords, listNames } from '../../text/render.ts';
import { sayMaintained, sayStepIn } from '../maintenance/event-words.ts';
import { readHeld, sayBefore } from './held-sentence.ts';

/** What is told of a note among other events; `why` tells the newest of them at length. */
const NOTE_CHARS = 120;

/** What an event says to a person; of a type that a newer version wrote, its bare name. */
export function sayEvent(words: Catalogue, event: EventRecord): string {
  const { type, fromState, toState, reason } = event;
  if (!isKnown(type)) return `\`${cutName(type)}\``;
  const data = readObject(event.data);
  const textOf = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? value : '';
  };
  return words.events[type]({
    by: sayPrincipal(words, event.by),
    from: inWords(words.states, fromState ?? ''),
    to: inWords(words.states, toState ?? ''),
    cause: sayCauseOf(words, reason, data['absent']),
    end: inWords(words.turnEnds, textOf('end')),
    provider: cutName(textOf('provider')),
    model: cutName(textOf('model')),
    code: cutName(textOf('code')),
    tool: sayTool(words, textOf('tool')),
    approvalId: cutName(textOf('approvalId')),
    decision: inWords(words.approvals, textOf('state')),
    note: type === 'assessment.ended' ? sayReason(words, textOf('reason')) : sayNote(words, data),
    attempt: numberIn(data['attempt']),
    attempts: String(LIMITS.recoveryAttempts),
    outcome: sayMaintained(words, event, data) || sayCameTo(words, type, data),
    step: sayStepIn(words, data),
    was: type === 'task.held' ? sayBefore(words, readHeld(data)) : '',
  });
}

function sayNote(words: Catalogue, { text }: JsonObject): string {
  return quoteWords(words, typeof text === 'string' ? text : '', NOTE_CHARS);
}

function sayReason(words: Catalogue, reason: string): string {
  return reason === '' ? '' : quoteReason(words, reason);
}

function numberIn(value: unknown): string {
  return typeof value === 'number' ? String(value) : '…';
}

/** What an attempt, the boundary or recovery came to, as a sentence; empty of everything else. */
function sayCameTo(words: Catalogue, type: EventType, data: JsonObject): string {
  const textOf = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? value : '';
  };
  if (type === 'assessment.ended')
    return sayOutcome(words, { outcome: textOf('outcome'), detail: textOf('code'), said: '' });
  if (type === 'task.enrolled') return wordOf(words.recovery.proofs, textOf('by'));
  return type === 'recovery.state' ? wordOf(words.recovery.states, textOf('recovery')) : '';
}

/** The word for a code of a table; empty for one that a newer version wrote. */
function wordOf(table: Readonly<Record<string, string>>, code: string): string {
  return (Object.hasOwn(table, code) ? table[code] : undefined) ?? '';
}

/** Why a task stands where it stands, in a sentence; empty without a reason. */
export function sayCauseOf(words: Catalogue, reason: string | null, absent: unknown): string {
  if (reason === null) return '';
  const missed = reason === 'interrupted' ? absenceIn(absent) : null;
  return missed === null ? inWords(words.causes, reason) : words.absences[missed];
}

function sayTool(words: Catalogue, tool: string): string {
  return tool === '' ? words.someCall : (listNames(words, [tool]) ?? words.someCall);
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(EVENTS, type);
}

/** Hosts and models have ids that tell a person nothing; everybody else is named as recorded. */
function sayPrincipal(words: Catalogue, by: string): string {
  const [kind] = by.split(':', 1);
  if (kind === 'host' || kind === 'model') return words.principals[kind](by);
  return words.principals.other(cutName(by));
}
