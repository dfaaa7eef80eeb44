import type { AssistantMessage, Context, Message, ToolCall, Usage } from '@earendil-works/pi-ai';
import { isObject, parseJson, type JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelCall, ModelMessage, ModelRequest } from '../../ports/model.ts';

/** Who is asked, as the library names it in a message. */
export interface Addressee {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
}

/**
 * The conversation with ids of calls that every server takes: of letters, digits, `_` and `-`, none twice. An id
 * that is fine stays. Other servers make them otherwise, and some count anew in each reply (T-13).
 */
export function withPlainIds(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const taken = new Set<string>();
  /** What a result's id stands for now: the latest call of this id. */
  const renamed = new Map<string, string>();
  return messages.map((message, at) => {
    if (message.role === 'tool') {
      return { ...message, callId: renamed.get(message.callId) ?? message.callId };
    }
    if (message.role === 'user') return message;
    const calls = message.calls.map((call, index) => {
      const isFine = PLAIN_ID.test(call.id) && !taken.has(call.id);
      const id = isFine ? call.id : `call_${at}_${index}`;
      taken.add(id);
      renamed.set(call.id, id);
      return { ...call, id };
    });
    return { ...message, calls };
  });
}

const PLAIN_ID = /^[\w-]{1,64}$/;

/** The request in the library's words. Schemas of tools pass through as they are. */
export function toContext(request: ModelRequest, addressee: Addressee): Context {
  return {
    systemPrompt: request.system,
    messages: request.messages.map((message) => toMessage(message, addressee)),
    tools: request.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    })),
  };
}

function toMessage(message: ModelMessage, addressee: Addressee): Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text, timestamp: 0 };
    case 'assistant':
      return toAssistant(message.text, message.calls, addressee);
    case 'tool':
      return {
        role: 'toolResult',
        toolCallId: message.callId,
        toolName: message.name,
        content: [{ type: 'text', text: message.text }],
        isError: message.isError,
        timestamp: 0,
      };
  }
}

function toAssistant(
  text: string,
  calls: readonly ModelCall[],
  addressee: Addressee,
): AssistantMessage {
  return {
    role: 'assistant',
    content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls.map(toCall)],
    ...addressee,
    usage: NO_USAGE,
    stopReason: calls.length > 0 ? 'toolUse' : 'stop',
    timestamp: 0,
  };
}

/**
 * A call whose arguments were no JSON object goes back with none: many servers refuse a whole
 * conversation that carries malformed ones, and the tool's own result says what was wrong.
 */
function toCall(call: ModelCall): ToolCall {
  const parsed = parseJson(call.args, LIMITS.jsonDepthMax);
  const args: JsonObject = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  return { type: 'toolCall', id: call.id, name: call.name, arguments: args };
}

const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
