import type { Engine } from '../src/engine/engine.ts';
import type { ConversationId, MessageId } from '../src/kernel/ids.ts';
import type { Model, ModelOutcome, ModelRequest } from '../src/ports/model.ts';
import type { Tools } from '../src/ports/tools.ts';
import { Floor, STEPS_PER_WORKFLOW } from './floor.ts';
import { BENCH, benchHost } from './host.ts';
import { inFolder, median, round, type Figures } from './measure.ts';

const RESULT = 'r'.repeat(200);
/** A conversation of so many calls is summed up now and then: that is part of what they cost. */
const SUMMED_UP = JSON.stringify({ summary: 'ten calls were made in each turn' });
const USAGE = { inputTokens: 10, outputTokens: 10, cost: 0 };
const CALLS = Array.from({ length: STEPS_PER_WORKFLOW }, (_, index) => ({
  id: `c${index}`,
  name: 'instant',
  args: `{"n":${index}}`,
}));
/** Slices of each kind, by turns: what the machine does besides meets both. */
const PAIRS = 7;
const TURNS_PER_SLICE = 128;

const GOALS = [
  [1, 0.5],
  [16, 0.4],
  [64, 0.3],
] as const;

/** turns of ten instant tool calls through the engine, beside the floor in the same run. */
export async function benchSteps(): Promise<Figures> {
  const figures: Record<string, unknown> = {};
  let met = true;
  for (const [conversations, goal] of GOALS) {
    const found = await compare(conversations);
    figures[`with${conversations}`] = { ...found, goal };
    met &&= found.ofFloor >= goal;
  }
  return { met, ...figures };
}

async function compare(conversations: number): Promise<{ readonly ofFloor: number }> {
  return inFolder(async (folder) => {
    const floor = new Floor(folder, conversations);
    const lanes = await openLanes(folder, conversations);
    const rounds = Math.ceil(TURNS_PER_SLICE / conversations);
    const slices: { readonly floor: Slice; readonly engine: Slice }[] = [];
    for (let pair = 0; pair <= PAIRS; pair += 1) {
      slices.push({
        floor: await timed(() => floor.run(rounds)),
        engine: await timed(() => lanes.run(rounds)),
      });
    }
    floor.close();
    await lanes.close();
    // The first pair warms both up.
    const counted = slices.slice(1);
    return {
      ofFloor: round(median(counted.map((pair) => pair.engine.rate / pair.floor.rate)), 3),
      stepsPerSecond: round(median(counted.map(({ engine }) => engine.rate))),
      floorStepsPerSecond: round(median(counted.map((pair) => pair.floor.rate))),
      cpuMicrosPerStep: round(median(counted.map(({ engine }) => engine.cpuMicros))),
      floorCpuMicrosPerStep: round(median(counted.map((pair) => pair.floor.cpuMicros))),
    };
  });
}

interface Slice {
  readonly rate: number;
  /** Processor time of a step, which a busy machine moves less than its rate. */
  readonly cpuMicros: number;
}

async function timed(run: () => Promise<number>): Promise<Slice> {
  const before = process.cpuUsage();
  const began = performance.now();
  const rate = await run();
  const steps = (rate * (performance.now() - began)) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { rate, cpuMicros: (user + system) / steps };
}

interface Lanes {
  /** Steps per second of `rounds` turns after one another in each conversation. */
  run(rounds: number): Promise<number>;
  close(): Promise<void>;
}

async function openLanes(folder: string, conversations: number): Promise<Lanes> {
  const model = new InstantModel();
  const engine = await benchHost(folder, { model, tools: TOOLS, concurrent: conversations });
  const lanes = await Promise.all(
    Array.from({ length: conversations }, (_, lane) =>
      engine.openConversation({ channel: 'api', address: `lane${lane}`, principal: BENCH }),
    ),
  );
  const lane = async (conversationId: ConversationId, rounds: number): Promise<void> => {
    for (let done = 0; done < rounds; done += 1) await turn(engine, model, conversationId);
  };
  return {
    async run(rounds) {
      const began = performance.now();
      await Promise.all(lanes.map((id) => lane(id, rounds)));
      const seconds = (performance.now() - began) / 1000;
      return (conversations * rounds * STEPS_PER_WORKFLOW) / seconds;
    },
    async close() {
      await engine.stop(0);
      await engine.store.close();
    },
  };
}

/** Ten calls, then an answer; it notes who was answered, so that nobody asks the store too early. */
class InstantModel implements Model {
  readonly provider = 'stub';
  readonly name = 'stub';
  readonly account = 'stub';
  readonly price = 'free';
  readonly rates = null;
  readonly contextWindow = 128_000;
  readonly answered = new Set<string>();

  call({ messages, answer }: ModelRequest): Promise<ModelOutcome> {
    if (answer !== undefined) return Promise.resolve(reply(SUMMED_UP, []));
    if (messages.at(-1)?.role !== 'tool') return Promise.resolve(reply('', CALLS));
    this.answered.add(messages.findLast(({ role }) => role === 'user')?.text ?? '');
    return Promise.resolve(reply('done', []));
  }

  probe(): Promise<'alive'> {
    return Promise.resolve('alive');
  }
}

const TOOLS: Tools = {
  list: [
    {
      name: 'instant',
      description: 'answers at once',
      parameters: { type: 'object' },
      repeatable: 'yes',
      changes: 'no',
    },
  ],
  examine: () => Promise.resolve({ needsApproval: false, approver: 'any', shown: null }),
  run: () => Promise.resolve({ kind: 'result', text: RESULT }),
};

function reply(text: string, calls: typeof CALLS): ModelOutcome {
  const stop = calls.length === 0 ? 'end' : 'calls';
  return { kind: 'reply', provider: 'stub', model: 'stub', text, calls, stop, usage: USAGE };
}

let turns = 0;

async function turn(
  engine: Engine,
  model: InstantModel,
  conversationId: ConversationId,
): Promise<void> {
  const text = `turn ${(turns += 1)}`;
  const accepted = await engine.acceptMessage({ conversationId, text, principal: BENCH });
  if (accepted.kind !== 'accepted') throw new Error(accepted.code);
  await isDone(engine, { conversationId, messageId: accepted.messageId }, () =>
    model.answered.has(text),
  );
  model.answered.delete(text);
}

/** Resolves once the message is done in the store. */
function isDone(
  engine: Engine,
  of: { readonly conversationId: ConversationId; readonly messageId: MessageId },
  mayBe: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = async (): Promise<void> => {
      if (!mayBe()) return;
      const message = await engine.store.query('message.byId', { id: of.messageId });
      if (message?.state !== 'done') return;
      leave();
      resolve();
    };
    const leave = engine.live.subscribe(of.conversationId, () => void look().catch(reject));
  });
}
