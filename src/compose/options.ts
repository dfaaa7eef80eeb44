import type { EngineOptions } from '../engine/engine.ts';
import { LIMITS } from '../kernel/limits.ts';
import { USD } from '../kernel/money.ts';
import { HOUR, SECOND } from '../kernel/time.ts';
import type { StoreTraits } from '../ports/store.ts';
import type { ConfigValues } from './config/keys.ts';

/** What the configuration means to the engine. */
export function engineOptions(
  values: ConfigValues,
  traits: StoreTraits,
  pid: number,
): EngineOptions {
  const tick = values['tick.seconds'];
  const tickDefault = traits.exclusive ? LIMITS.tickMsExclusive : LIMITS.tickMsShared;
  return {
    pid,
    locale: values.locale,
    timeZone: values.timeZone ?? machineTimeZone(),
    concurrentConversations: values['limits.concurrentConversations'],
    deadlineMs: values['limits.deadline'],
    turnsLimit: values['limits.turns'],
    tokensLimit: values['limits.tokens'],
    costLimitMicroUsd: Math.round(values['limits.costUsd'] * USD),
    continuationsLimit: values['limits.continuations'],
    whileBusy: values.whileBusy,
    approvalMs: values['tools.approvalHours'] * HOUR,
    recovery: {
      safeMode: values['recovery.safeMode'],
      spacingMs: Math.round(values['recovery.spacingSeconds'] * SECOND),
      callMs: Math.round(values['recovery.callTimeoutSeconds'] * SECOND),
      diagnostics: values['notices.recoveryDiagnostics'],
    },
    maintenance: {
      startAt: values['maintenance.startAt'],
      firstDelayMs: Math.round(values['maintenance.firstDelaySeconds'] * SECOND),
      maxDelayMs: Math.round(values['maintenance.maxDelaySeconds'] * SECOND),
    },
    leaseMs: values['lease.seconds'] * SECOND,
    leaseRenewMs: values['lease.renewSeconds'] * SECOND,
    tickMs: tick === undefined ? tickDefault : tick * SECOND,
  };
}

function machineTimeZone(): string {
  return new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
}
