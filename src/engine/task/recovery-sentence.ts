import type { TaskReason } from '../../core/task/moves.ts';
import { readObject, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { cutName } from '../../text/quote.ts';
import { quoteReason, sayFailure } from '../../text/recovery-facts.ts';
import { sayWhen, sayWhenSecond } from '../../text/when.ts';
import { readHeld, sayBefore } from './held-sentence.ts';
import type { Found, Telling } from './standing-sentence.ts';

type Tells = (telling: Telling, found: Found, data: JsonObject) => readonly string[];

const TELLS: Readonly<Partial<Record<TaskReason, Tells>>> = {
  interrupted: sayInterrupted,
  recovery_assessment_failed: sayLast,
  recovery_inconclusive: saySaid,
  ended_by_assessment: saySaid,
  order_late: sayOrder,
  held_legacy: ({ words }, _, data) => [sayBefore(words, readHeld(data)), words.recovery.wakes],
};

/** What is told of interrupted work, of an order that is late and of history, as whole sentences. */
export function sayRecovery(telling: Telling, found: Found): readonly string[] {
  const { reason, outcomeData } = found.task;
  const tells = reason !== null && Object.hasOwn(TELLS, reason) ? TELLS[reason] : undefined;
  return tells?.(telling, found, readObject(outcomeData)) ?? [];
}

/** Its attempts and what comes next; nothing of the task goes on before. */
function sayInterrupted(telling: Telling, found: Found, data: JsonObject): readonly string[] {
  const { words } = telling;
  const { task } = found;
  const { recovery } = words;
  const used = sayAttempts(telling, found);
  const held = saySafeMode(telling, found);
  if (task.waitKind !== 'provider') return [used, ...held, recovery.nothingBefore];
  const { detail } = data;
  const code = typeof detail === 'string' && detail !== '' ? words.why.detail(cutName(detail)) : '';
  return [recovery.unreached, code, used, ...held];
}

/** That safe mode keeps the check from beginning, and until when. */
function saySafeMode({ words, reader, now }: Telling, { heldUntil }: Found): readonly string[] {
  if (heldUntil === null) return [];
  return [words.recovery.safeModeChecks(sayWhen(reader, words, heldUntil, now))];
}

function sayAttempts(
  { words, reader, now }: Telling,
  { task, isAssessed, heldUntil }: Found,
): string {
  const { recovery } = words;
  const { recoveryAttempts, recoveryNextAt: nextAt } = task;
  const attempts = String(LIMITS.recoveryAttempts);
  if (isAssessed) return recovery.assessing({ attempt: String(recoveryAttempts), attempts });
  const isLater = nextAt !== null && nextAt > now;
  const next = isLater ? sayWhenSecond(reader, words, nextAt, now) : null;
  const isWaited = task.waitKind === 'provider' || heldUntil !== null;
  const used = { used: String(recoveryAttempts), attempts };
  return isWaited ? recovery.attemptsUsed(used) : recovery.attempts({ ...used, next });
}

/** What became of the last attempt, with the provider's code and words. */
function sayLast({ words }: Telling, { task }: Found, data: JsonObject): readonly string[] {
  const textOf = (key: string): string => {
    const value = data[key];
    return typeof value === 'string' ? value : '';
  };
  const outcome = textOf('outcome') || (task.recoveryOutcome ?? '');
  // One that was repaired never had an attempt of this version.
  if (outcome === '') return [];
  const missed = { outcome, detail: textOf('detail'), said: textOf('said') };
  return [words.recovery.last(sayFailure(words, missed))];
}

function saySaid({ words }: Telling, _: Found, { said }: JsonObject): readonly string[] {
  if (typeof said !== 'string' || said === '') return [];
  return [words.recovery.said(quoteReason(words, said))];
}

function sayOrder(
  { words, reader, now }: Telling,
  _: Found,
  { at }: JsonObject,
): readonly string[] {
  if (typeof at !== 'number') return [];
  return [words.recovery.orderAt(sayWhen(reader, words, at, now))];
}
