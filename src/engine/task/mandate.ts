import type { Mandate, TaskBounds } from '../../core/task/decide.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { EngineParts } from '../engine.ts';

/** The mandate of a message: what was asked, by whom, through what, when (T-5). */
export function mandateOf(
  text: string,
  source: {
    readonly principal: string;
    readonly authority: 'admin' | 'own';
    readonly origin: string;
    readonly at: number;
    readonly hash: string;
  },
): Mandate {
  return {
    mandateText: text,
    mandatePrincipal: source.principal,
    mandateAuthority: source.authority,
    mandateOrigin: source.origin,
    mandateAt: source.at,
    mandateHash: source.hash,
  };
}

/** The beginning of what was asked: enough for a notice or a reminder to quote, whatever it cuts. */
export function requestOf({ mandateText }: Pick<TaskRecord, 'mandateText'>): string {
  return mandateText.slice(0, LIMITS.mandateQuoteChars * 2);
}

/** The bounds of a new task, from the configuration. */
export function boundsOf({ options }: EngineParts): TaskBounds {
  return {
    deadlineMs: options.deadlineMs,
    turns: options.turnsLimit,
    tokens: options.tokensLimit,
    costMicroUsd: options.costLimitMicroUsd,
    continuations: options.continuationsLimit,
  };
}
