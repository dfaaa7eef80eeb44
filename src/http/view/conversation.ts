import type { MessageRecord } from '../../core/inbox/record.ts';
import type { ConversationRecord } from '../../core/session/record.ts';
import type { TranscriptItem as Item } from '../../core/turn/transcript.ts';
import type { Engine } from '../../engine/engine.ts';
import { chainOf, modelNamed } from '../../engine/session/agent.ts';
import type { ConversationReply, MessageReply, TranscriptItem } from '../../wire/conversation.ts';
import { iso } from '../call.ts';
import { viewMaintenance } from './maintenance.ts';
import { readSpeech, wordsOf } from './speech.ts';

/** A conversation with the model that it would ask and the turn that has it. */
export async function viewConversation(
  engine: Engine,
  row: ConversationRecord,
): Promise<ConversationReply> {
  const { id, agent, channel, address, sessionId, turnId, createdAt, fence, operationId } = row;
  const found = turnId === null ? undefined : await engine.store.query('turn.byId', { id: turnId });
  return {
    id,
    agent,
    channel,
    address,
    sessionId,
    model: modelOf(engine, row),
    turn:
      found === undefined
        ? null
        : { id: found.id, taskId: found.taskId, startedAt: iso(found.startedAt) },
    state: turnId === null ? 'idle' : 'running',
    fence,
    operationId,
    maintenance: await viewMaintenance(engine, row),
    createdAt: iso(createdAt),
  };
}

function modelOf({ parts }: Engine, row: ConversationRecord): ConversationReply['model'] {
  const [{ provider, name }] = chainOf(parts, row);
  // What was chosen counts while the configuration still has it.
  const chosen = row.model !== null && modelNamed(parts, row.model) !== undefined;
  return { provider, name, chosen };
}

export async function viewMessage(engine: Engine, row: MessageRecord): Promise<MessageReply> {
  const { id, conversationId, state, text, taskId, runId, at } = row;
  const answer = await readSpeech(engine, row.answerId);
  return {
    id,
    conversationId,
    state,
    text,
    taskId,
    runId,
    answer: answer === undefined ? null : wordsOf(engine, answer),
    answerId: answer?.id ?? null,
    at: iso(at),
  };
}

export function viewItem(item: Item): TranscriptItem {
  const { seq, role, text: content, taskId } = item;
  const base = { seq, role, content, taskId, at: iso(item.at) };
  if (item.role === 'tool') return { ...base, toolCallId: item.callId, tool: item.name };
  if (item.role === 'user' || item.calls.length === 0) return base;
  return { ...base, toolCalls: item.calls.map(({ id, name, args }) => ({ id, name, args })) };
}
