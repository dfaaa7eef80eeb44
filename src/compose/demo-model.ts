import { isObject } from '../kernel/json.ts';
import { callsTool, fails, says, type ModelAnswer } from '../testing/model-answer.ts';
import { startModelServer, type RecordedRequest } from '../testing/model-server.ts';

/** What a host asks a model for: a turn of a task, or an answer of a shape by its name. */
export type DemoAsks = 'turn' | (typeof SHAPES)[number];

const SHAPES = ['assessment', 'classification', 'summary'] as const;

export interface DemoQuestion {
  readonly asks: DemoAsks;
  /** The whole request, to look for words in. */
  readonly text: string;
  /** Whether a tool has been called in this turn's conversation and gave something. */
  readonly hasResult: boolean;
}

/** `stall`: no answer ever comes. */
export type DemoAnswer =
  | { readonly say: string }
  | { readonly call: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly status: number }
  | 'stall';

/** A model on loopback whose every answer is a script's: a demo needs no provider. */
export interface DemoModel {
  /** The base URL for a configuration. */
  readonly url: string;
  /** What was asked so far, in order. */
  readonly asked: readonly DemoQuestion[];
  close(): Promise<void>;
}

/** `window`, in tokens: what is larger is refused as a real provider does, and the usage is counted. */
export async function startDemoModel(
  script: (question: DemoQuestion) => DemoAnswer,
  { window }: { readonly window?: number } = {},
): Promise<DemoModel> {
  const asked: DemoQuestion[] = [];
  const respond = (request: RecordedRequest): ModelAnswer => {
    const question = questionOf(request);
    asked.push(question);
    return answerOf(script(question));
  };
  const strict = window === undefined ? {} : { strict: { window, summary: respond } };
  const server = await startModelServer(respond, { model: 'demo', ...strict });
  return { url: server.url, asked, close: () => server.close() };
}

function questionOf({ body, text }: RecordedRequest): DemoQuestion {
  const format = body['response_format'];
  const schema = isObject(format) ? format['json_schema'] : undefined;
  const name = isObject(schema) ? schema['name'] : undefined;
  const asks = SHAPES.find((shape) => shape === name) ?? 'turn';
  return { asks, text, hasResult: text.includes('"role":"tool"') };
}

function answerOf(answer: DemoAnswer): ModelAnswer {
  if (answer === 'stall') return { kind: 'stall' };
  if ('say' in answer) return says(answer.say);
  return 'status' in answer ? fails(answer.status) : callsTool(answer.call, answer.args);
}
