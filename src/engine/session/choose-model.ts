import type { MessageRecord } from '../../core/inbox/record.ts';
import { refuse, type Refusal } from '../../kernel/fault.ts';
import { nearestWord } from '../../kernel/nearest.ts';
import type { Model } from '../../ports/model.ts';
import type { Read, Unit } from '../../ports/store.ts';
import { catalogueOf } from '../../text/reader.ts';
import { AUDIT_TAIL, auditWrite } from '../audit/append.ts';
import type { EngineParts } from '../engine.ts';
import { closeCommand } from '../inbox/answer-unit.ts';
import { settle } from '../settle.ts';
import { chainOf, modelNamed } from './agent.ts';
import { Ledger } from './ledger.ts';

/** Goes back to the agent's own model. */
const DEFAULT = 'default';

type ChooseReads = {
  readonly conversation: Read<'conversation.byId'>;
  readonly command: Read<'message.byId'>;
  readonly last: Read<'audit.last'>;
};

/**
 * Sets the model of a conversation, from its next step on and over restarts (T-20): an admin's order,
 * answered by the same commit. Refused: `forbidden`, `unknown_model` with the nearest name.
 */
export async function chooseModel(
  parts: EngineParts,
  command: MessageRecord,
  name: string,
): Promise<'answered' | Refusal> {
  if (command.authority !== 'admin')
    return refuse('forbidden', { id: command.conversationId, who: 'admin' });
  const chosen = name === DEFAULT ? null : modelNamed(parts, name);
  if (chosen === undefined) return refuse('unknown_model', { word: name, ...nearest(parts, name) });
  const model = chosen === null ? null : nameOf(chosen);
  return settle(parts, () => chooseUnit(parts, command, model));
}

function chooseUnit(
  parts: EngineParts,
  { id, conversationId, channel, principal }: MessageRecord,
  model: string | null,
): Unit<ChooseReads, 'answered'> {
  return {
    name: 'conversation.model',
    reads: {
      conversation: { read: 'conversation.byId', args: { id: conversationId } },
      command: { read: 'message.byId', args: { id } },
      ...AUDIT_TAIL,
    },
    decide: ({ conversation, command, last }, at) => {
      if (conversation === undefined || command === undefined || command.state === 'done')
        return { verdict: 'answered', writes: [] };
      const ledger = new Ledger(conversation, at, principal);
      ledger.add({ write: 'conversation.model', id: conversationId, model });
      ledger.event('conversation.model', { data: { model } });
      const [now] = chainOf(parts, { ...conversation, model });
      const { answers } = catalogueOf(parts.options.locale);
      closeCommand(ledger, { id, conversationId }, { text: answers.modelSet(nameOf(now)) });
      const entry = {
        at: at.now,
        principal,
        channel,
        action: 'conversation.model',
        subjectId: conversationId,
        before: { model: conversation.model },
        after: { model },
      };
      ledger.add(auditWrite(parts, last, entry));
      return { verdict: 'answered', writes: ledger.close() };
    },
  };
}

function nameOf({ provider, name }: Model): string {
  return `${provider}/${name}`;
}

function nearest({ models }: EngineParts, typed: string): { readonly nearest?: string } {
  const names = models.map((model) => (typed.includes('/') ? nameOf(model) : model.name));
  const [first, ...rest] = names;
  return first === undefined ? {} : { nearest: nearestWord(typed, [first, ...rest]) };
}
