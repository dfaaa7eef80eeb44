import type { JsonObject } from '../../kernel/json.ts';
import type {
  Model,
  ModelCall,
  ModelMessage,
  ModelOutcome,
  ModelRequest,
} from '../../ports/model.ts';
import { ownFault } from './fault.ts';

/**
 * A model that needs nothing and says in each answer that it is none: it reads a few plain
 * instructions, really calls the tools for them, and quotes what they gave. The same request always
 * gets the same outcome. It costs nothing; its tokens are counted by four characters.
 */
export function rehearsalModel(): Model {
  return {
    provider: NAME,
    name: NAME,
    price: 'free',
    rates: { input: 0, output: 0 },
    account: NAME,
    contextWindow: 128_000,
    probe: () => Promise.resolve('alive'),
    async call(request, live) {
      if (live.signal.aborted) return ownFault('aborted');
      live.onModel(NAME, NAME);
      const next = nextOf(request);
      if (next.kind === 'call') return outcomeOf(request, '', [next.call]);
      for (const piece of next.text.split(/(?<=[.:!?]\s)/)) {
        live.onText(piece);
        // A listener gets its turn, and may stop the rest.
        await Promise.resolve();
        if (live.signal.aborted) return ownFault('aborted');
      }
      return outcomeOf(request, next.text, []);
    },
  };
}

const NAME = 'rehearsal';
const ME = 'I am the rehearsal model, not a real one.';
const REAL =
  'For a real model put a line like this into sekisho.yaml:\n' +
  'model: { provider: openai-compatible, baseURL: http://127.0.0.1:11434/v1, name: llama3.2 }';
const KNOWN =
  'I know: list FOLDER, read FILE, write FILE: TEXT, search PATTERN, run COMMAND, ' +
  'call TOOL {JSON}, and several of them joined by “then”.';
/** A longer text is no instruction; patterns that look for words take long on long texts. */
const WISH_CHARS_MAX = 2_000;
const QUOTED_CHARS_MAX = 300;
const CHARS_PER_TOKEN = 4;

/** How the host begins where interrupted work goes on, and what it tells of a session that was shortened. */
const HOSTS_WORDS: readonly string[] = [
  'This task was interrupted',
  'From the host, ',
  'The host’s own records, ',
];
/** How it begins where it says a wish again whose turn is not shown any more. */
const SAID_AGAIN =
  /^(?:The request of this task, restated by the host|The person’s latest words, said again by the host[^:]*):\n\n/;

const THEN =
  /[,;]?\s+(?:and\s+)?then\s+(?=(?:list|ls|read|show|cat|write|search|find|grep|run|command|execute|call)\b)/i;
const POLITE = /^(?:please|kindly|could you|can you|now)[,\s]+/i;

interface Instruction {
  readonly tool: string;
  /** As a model writes them: text. */
  readonly args: string;
}

/** The first that fits is meant. */
const READINGS: readonly (readonly [
  RegExp,
  (groups: Readonly<Record<string, string | undefined>>) => Instruction,
])[] = [
  [
    /^call\s+(?<tool>\w+)\s*(?<args>\{.*\})?$/is,
    (g) => ({ tool: g['tool'] ?? '', args: g['args'] ?? '{}' }),
  ],
  [
    /^(?:list|ls)(?:\s+(?:all\s+)?(?:the\s+)?files)?(?:\s+(?:in|of|under))?(?:\s+(?<path>.+))?$/i,
    (g) => tool('list', { path: g['path'] }),
  ],
  [
    /^(?:read|show|cat)\s+(?:the\s+)?(?:file\s+)?(?<path>.+)$/i,
    (g) => tool('read', { path: g['path'] }),
  ],
  [
    /^write\s+(?<path>[^\s:]+)\s*:\s*(?<content>.+)$/is,
    (g) => tool('write', { path: g['path'], content: g['content'] }),
  ],
  [
    /^write\s+(?<content>.+)\s(?:in)?to\s+(?<path>\S+)$/is,
    (g) => tool('write', { path: g['path'], content: g['content'] }),
  ],
  [
    /^(?:search|find|grep)\s+(?:for\s+)?(?<pattern>.+?)(?:\s+in\s+(?<path>\S+))?$/i,
    (g) => tool('search', { pattern: g['pattern'], path: g['path'] }),
  ],
  [
    /^(?:run|command|execute)\s+(?<command>.+)$/is,
    (g) => tool('command', { command: g['command'] }),
  ],
];

type Next =
  | { readonly kind: 'call'; readonly call: ModelCall }
  | { readonly kind: 'answer'; readonly text: string };

/** What it says where an answer of a shape is asked for (surface: model calls): always the same. */
const SHAPED: Readonly<Record<string, JsonObject>> = {
  assessment: {
    verdict: 'continue',
    reason: `${ME} I judge nothing and let interrupted work go on from what is saved.`,
  },
  classification: { taskId: null, reason: `${ME} I take every message for a new request.` },
  summary: {
    summary: `${ME} I sum up nothing: what was said stands in the transcript, and in the host’s own records.`,
  },
};

function nextOf(request: ModelRequest): Next {
  const shaped = SHAPED[request.answer?.name ?? ''];
  return shaped === undefined ? wishOf(request) : answer(JSON.stringify(shaped));
}

function wishOf(request: ModelRequest): Next {
  const from = wishAt(request.messages);
  const asked = request.messages[from];
  const wish = asked?.role === 'user' ? asked.text.replace(SAID_AGAIN, '').trim() : '';
  const done = request.messages.slice(from + 1);
  const results = done.filter((message) => message.role === 'tool');
  const parts = wish.length <= WISH_CHARS_MAX ? wish.split(THEN) : [''];
  const instructions = parts.map(instructionIn);
  const called = done.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  const next = instructions[called.length];
  const hasFailed = results.at(-1)?.isError === true;
  if (instructions.includes(undefined)) return answer(smallTalk(wish));
  if (next === undefined || hasFailed) return answer(reportOf(results));
  if (!request.tools.some(({ name }) => name === next.tool)) {
    return answer(`${ME} You want the tool ${next.tool}, and I have none of that name here.`);
  }
  return { kind: 'call', call: { id: callId(request), name: next.tool, args: next.args } };
}

/** Where the person's wish stands: what the host says of its own accord is no other one. */
function wishAt(messages: readonly ModelMessage[]): number {
  const isHosts = (text: string): boolean => HOSTS_WORDS.some((words) => text.startsWith(words));
  const wish = messages.findLastIndex((one) => one.role === 'user' && !isHosts(one.text));
  return wish >= 0 ? wish : messages.findLastIndex(({ role }) => role === 'user');
}

function instructionIn(part: string): Instruction | undefined {
  const text = part.trim().replace(POLITE, '');
  for (const [pattern, reading] of READINGS) {
    const match = pattern.exec(text);
    if (match !== null) return reading(match.groups ?? {});
  }
  return undefined;
}

function tool(name: string, args: Readonly<Record<string, string | undefined>>): Instruction {
  const given = Object.entries(args).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, unquoted(value)] as const],
  );
  const object: JsonObject = Object.fromEntries(given);
  return { tool: name, args: JSON.stringify(object) };
}

/** People put names into quotes, and end sentences with a full stop behind them. */
function unquoted(text: string): string {
  const match = /^(["'`])(?<inner>.*)\1\.?$/s.exec(text.trim());
  return match?.groups?.['inner'] ?? text.trim();
}

/** What the host itself tells a model, by its beginning; what follows a blank line is a result. */
function toHost(wish: string): string | undefined {
  const [said = '', ...rest] = wish.split('\n\n');
  const told = brief(rest.join('\n\n'), QUOTED_CHARS_MAX);
  if (said.startsWith('A person has approved')) return `${ME} It was approved, and gave: ${told}`;
  if (said.startsWith('A person has denied')) return `${ME} It was denied, so it was not run.`;
  const goesOn = ['A person lets', 'An admin has granted', 'A person began', 'The instant'];
  return goesOn.some((words) => said.startsWith(words)) ? `${ME} I go on. ${KNOWN}` : undefined;
}

function smallTalk(wish: string): string {
  const told = toHost(wish);
  if (told !== undefined) return told;
  if (/^(?:hello|hi|hey|good (?:morning|evening|day)|hallo|moin)\b/i.test(wish)) {
    return `Hello! ${ME} ${KNOWN}`;
  }
  if (/^(?:what(?:'s|’s| is)? (?:the )?time|how late)\b/i.test(wish)) {
    return `${ME} I have no clock; “run date” asks the machine.`;
  }
  return `${ME} I did not understand “${brief(wish, 80)}”. ${KNOWN}\n${REAL}`;
}

function reportOf(results: readonly Extract<ModelMessage, { role: 'tool' }>[]): string {
  const lines = results.map(({ name, text, isError }) => {
    const said = text.trim() === '' ? '(nothing)' : brief(text, QUOTED_CHARS_MAX);
    return `${name} ${isError ? 'failed' : 'gave'}: ${said}`;
  });
  return [ME, ...lines].join('\n');
}

/** The same in every replay of the conversation, and used once in it. */
function callId(request: ModelRequest): string {
  const before = request.messages.flatMap((message) =>
    message.role === 'assistant' ? message.calls : [],
  );
  return `rehearsal_${before.length + 1}`;
}

function answer(text: string): Next {
  return { kind: 'answer', text };
}

function brief(text: string, charsMax: number): string {
  const trimmed = text.trim();
  return trimmed.length <= charsMax ? trimmed : `${trimmed.slice(0, charsMax)} …`;
}

function outcomeOf(request: ModelRequest, text: string, calls: readonly ModelCall[]): ModelOutcome {
  const written = text.length + calls.reduce((sum, call) => sum + call.args.length, 0);
  return {
    kind: 'reply',
    provider: NAME,
    model: NAME,
    text,
    calls,
    stop: calls.length > 0 ? 'calls' : 'end',
    usage: {
      inputTokens: tokens(JSON.stringify(request).length),
      outputTokens: tokens(written),
      cost: 0,
    },
  };
}

function tokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
