import type { ApprovalRecord } from '../../core/approval/record.ts';
import type { LimiterRecord } from '../../core/budget/record.ts';
import type { StormRecord } from '../../core/recovery/record.ts';
import { stormEndsAt } from '../../core/recovery/storm.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { sayAccount, standingLimiters } from '../../engine/budget/standing.ts';
import type { Engine } from '../../engine/engine.ts';
import { sayStoreAlarm } from '../../engine/lease/alarm.ts';
import type { StoreAlarm } from '../../ports/store.ts';
import { catalogueOf } from '../../text/reader.ts';
import { sayInstant, sayWhen } from '../../text/when.ts';
import { sayStored } from './speech.ts';

/** An open approval as its notice says it: what would run, whole, and how it is answered. */
export function sayApproval(
  engine: Engine,
  approval: ApprovalRecord,
  task: TaskRecord | undefined,
): string {
  const { id: approvalId, taskId, kind, tool, shown, approver, expiresAt } = approval;
  const code = kind === 'uncertain' ? 'uncertain_effect' : 'awaits_approval';
  const { mandateText: request = '', reason = null } = task ?? {};
  const params = { request, reason, taskId, approvalId, tool, shown, approver, expiresAt };
  return sayStored(engine, code, JSON.stringify(params));
}

/** An account of models that cannot be asked now, and until when. */
export function sayLimiter({ parts }: Engine, limiter: LimiterRecord): string {
  const { locale, timeZone } = parts.options;
  const { until } = limiter;
  const words = catalogueOf(locale);
  const when =
    until === null ? null : sayWhen({ locale, timeZone }, words, until, parts.clock.now());
  return words.answers.limiter({ ...sayAccount(words, parts, limiter), until: when });
}

/** Those that stand in somebody's way now. */
export function limitersOf(engine: Engine): readonly LimiterRecord[] {
  const { parts } = engine;
  return standingLimiters(parts, engine.health().limiters, parts.clock.now());
}

/** That the wall clock is not believed. */
export function sayClock(engine: Engine): string {
  const drift = engine.health().clock.driftMs;
  return sayStored(engine, 'clock_distrusted', JSON.stringify({ drift }));
}

/** That nothing begins by itself, and until when. */
export function saySafeMode({ parts }: Engine, storm: StormRecord): string {
  const { locale, timeZone } = parts.options;
  const words = catalogueOf(locale);
  const now = parts.clock.now();
  const say = (at: number): string => sayInstant({ locale, timeZone }, words.tag, at, now);
  return words.answers.safeMode({ since: say(storm.since), until: say(stormEndsAt(storm)) });
}

/** How many older tasks an admin alone wakes. */
export function sayHeld({ parts }: Engine, held: number): string {
  const words = catalogueOf(parts.options.locale);
  return words.recovery.summary({ held, workersHeld: 0, unsent: 0 });
}

/** What a person should look at in the store. */
export function sayAlarm({ parts }: Engine, alarm: StoreAlarm): string {
  return sayStoreAlarm(catalogueOf(parts.options.locale), alarm);
}
