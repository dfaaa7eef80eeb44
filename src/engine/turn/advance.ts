import type { ConversationRecord } from '../../core/session/record.ts';
import type { StepRecord, TurnRecord } from '../../core/turn/record.ts';
import type { Read, Unit } from '../../ports/store.ts';
import type { EngineParts } from '../engine.ts';
import { Ledger } from '../session/ledger.ts';
import { settle } from '../settle.ts';
import { finishedStep, outcomeOf, startedStep, type StepEnd, type StepStart } from './step.ts';

/** `fenced`: the conversation's token has moved on, this turn may write nothing more (design principle 8). */
export type Advanced =
  | { readonly kind: 'advanced'; readonly finished: StepRecord; readonly started: StepRecord }
  | { readonly kind: 'fenced' };

export interface StepPair {
  readonly turn: TurnRecord;
  readonly step: StepRecord;
  readonly end: StepEnd;
  readonly next: StepStart;
  /** The model that the provider reported, when it is news to this turn (T-9). */
  readonly selected: { readonly provider: string; readonly model: string } | null;
}

/** Saves a step's outcome and reserves the next step in one commit (E-1). */
export async function advanceTurn(parts: EngineParts, pair: StepPair): Promise<Advanced> {
  return settle(parts, (tries) => advanceUnit(pair, tries));
}

type AdvanceReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly last?: Read<'step.lastOf'>;
};

function advanceUnit(pair: StepPair, tries: number): Unit<AdvanceReads, Advanced> {
  const { turn, step, next } = pair;
  const { conversationId } = turn;
  const last = {
    last: { read: 'step.lastOf', args: { conversationId, turnId: turn.id } },
  } as const;
  return {
    name: 'turn.step',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      ...(tries === 0 ? {} : last),
    },
    decide: ({ conversation, last: newest }, at) => {
      if (conversation === undefined || !holds(conversation, turn))
        return { verdict: { kind: 'fenced' }, writes: [] };
      if (newest?.ordinal === next.ordinal) {
        return {
          verdict: {
            kind: 'advanced',
            finished: { ...step, ...outcomeOf(pair.end) },
            started: newest,
          },
          writes: [],
        };
      }
      const ledger = new Ledger(conversation, at, `host:${turn.hostId}`);
      const finished = finishedStep(ledger, step, pair.end);
      addSelected(ledger, turn, pair.selected);
      const started = startedStep(ledger, turn, next);
      ledger.add({ write: 'step.finish', row: finished }, { write: 'step.insert', row: started });
      return { verdict: { kind: 'advanced', finished, started }, writes: ledger.close() };
    },
  };
}

/** Whether the turn still has its conversation under the token of its claim (V19). */
export function holds(
  conversation: ConversationRecord,
  turn: Pick<TurnRecord, 'id' | 'token'>,
): boolean {
  return conversation.turnId === turn.id && conversation.token === turn.token;
}

/** Records the reported model when it is news (T-9). */
export function addSelected(
  ledger: Ledger,
  turn: TurnRecord,
  selected: StepPair['selected'],
): void {
  if (selected === null) return;
  const { provider, model } = selected;
  ledger.event('model.selected', {
    taskId: turn.taskId,
    turnId: turn.id,
    runId: turn.runId,
    data: { provider, model },
  });
}
