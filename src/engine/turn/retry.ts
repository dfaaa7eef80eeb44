import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import { hostName } from '../../kernel/principal.ts';
import type { Model } from '../../ports/model.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { holds } from './advance.ts';

export interface TryOrder {
  readonly turn: TurnRecord;
  readonly step: StepRecord;
  readonly model: Model;
  /** Which call of the step it will be, from 2 on. */
  readonly tries: number;
  /** What the call before it came to. */
  readonly code: string;
}

type TryReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly last: Read<'step.lastOf'>;
};

/** Commits a further call of a model step before it is made (T-18): a crash spends it (V5). */
export async function reserveTry(
  parts: EngineParts,
  order: TryOrder,
): Promise<'reserved' | 'fenced'> {
  return settle(parts, () => tryUnit(order));
}

function tryUnit(order: TryOrder): Unit<TryReads, 'reserved' | 'fenced'> {
  const { turn, step, model, tries, code } = order;
  const { conversationId, id: turnId, taskId, runId } = turn;
  return {
    name: 'turn.retry',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      last: { read: 'step.lastOf', args: { conversationId, turnId } },
    },
    decide: ({ conversation, last }, at) => {
      if (conversation === undefined || !holds(conversation, turn))
        return { verdict: 'fenced', writes: [] };
      if (last?.seq === step.seq && last.tries >= tries) return { verdict: 'reserved', writes: [] };
      const ledger = new Ledger(conversation, at, hostName(turn.hostId));
      const { provider, name } = model;
      const data = { stepId: step.id, tries, provider, model: name, code };
      ledger.event('model.retried', { taskId, turnId, runId, data });
      ledger.add({ write: 'step.retry', turnId, seq: step.seq, tries });
      return { verdict: 'reserved', writes: ledger.close() };
    },
  };
}
