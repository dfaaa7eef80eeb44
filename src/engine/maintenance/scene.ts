import { planCut, type Cut } from '../../core/maintenance/cut.ts';
import type { Exchange } from '../../core/maintenance/exchange.ts';
import type { OperationRecord, SessionSeed } from '../../core/maintenance/record.ts';
import {
  type Reported,
  answerReserve,
  countTokens,
  freeChars,
  mostChars,
  requestRoom,
} from '../../core/maintenance/size.ts';
import { readSeed, writeSeed } from '../../core/maintenance/summary.ts';
import type { ConversationRecord, SessionRecord } from '../../core/session/record.ts';
import type { TaskRecord } from '../../core/task/record.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Agent, EngineParts } from '../engine.ts';
import { agentOf, chainOf } from '../session/agent.ts';
import { sayShortened } from '../session/shortened.ts';
import { readAgain } from '../settle.ts';
import { offeredTools } from '../turn/context.ts';
import { lastReported, readHistory, scaleOf, sizeOfTurns } from '../turn/history.ts';
import { readTail } from './range.ts';

/** What an operation is carried out on, read before its try is reserved. Sizes in characters. */
export interface Scene {
  readonly conversation: ConversationRecord;
  readonly session: SessionRecord;
  /** The task of the newest words that nobody has answered yet. */
  readonly task: TaskRecord | undefined;
  /** Nothing goes on in the session any more, and nothing begins in it (M-21). */
  readonly isUnused: boolean;
  readonly agent: Agent;
  readonly runtime: Runtime | undefined;
  readonly seed: SessionSeed | null;
  readonly instructions: number;
  readonly tools: number;
  /** The first words that wait behind the fence, in characters; 0 where there are none. */
  readonly head: number;
  /** The latest words that a turn has taken up and nobody has answered, and their place; null where there are none. */
  readonly open: { readonly chars: number; readonly seq: number } | null;
  /** The newest exchanges behind the cut: all that could be kept word for word. */
  readonly tail: readonly Exchange[];
  readonly reported: Reported | null;
  /** Of the limit that the operation works against: what a request has beside instructions and tools. */
  readonly free: number;
  /** In tokens: the limit of the operation, and what the model states. */
  readonly window: number;
  readonly stated: number;
}

/** Reads what an operation needs; undefined when its conversation or session is gone. */
export async function readScene(
  parts: EngineParts,
  operation: OperationRecord,
): Promise<Scene | undefined> {
  const { conversationId, window } = operation;
  const conversation = await readAgain(parts, 'conversation.byId', { id: conversationId });
  const session = await readAgain(parts, 'session.byId', { id: operation.sessionId });
  if (conversation === undefined || session === undefined) return undefined;
  const agent = agentOf(parts, conversation.agent);
  const [model] = chainOf(parts, conversation);
  const instructions = (await agent.instructions()).length;
  const { chars: tools } = offeredTools(agent.tools.list);
  const base = instructions + tools;
  const { head, open, task } = await readLatest(parts, conversation);
  const known = { conversation, session, task, base };
  const reported = await readReported(parts, known, model.contextWindow);
  const free = freeChars(window, base, reported);
  const place = { conversationId, sessionId: session.id, after: session.cutSeq };
  // Two long reads after one another.
  await parts.clock.sleep(0);
  const tail = await readTail(parts, { ...place, before: conversation.seq + 1, charsMin: free });
  const seed = readSeed(session.seed);
  const { runtime } = agent;
  const { contextWindow: stated } = model;
  const sizes = { instructions, tools, head, open, tail, reported, free, window, stated };
  const isUnused = await hasNoUse(parts, conversation, operation);
  return { conversation, session, task, isUnused, agent, runtime, seed, ...sizes };
}

// Open tasks of one conversation that are looked through.
const TASKS_MAX = 1_000;

async function hasNoUse(
  parts: EngineParts,
  { id: conversationId, sessionId }: ConversationRecord,
  operation: OperationRecord,
): Promise<boolean> {
  const own = [operation.sessionId, operation.nextSessionId];
  if (own.includes(sessionId)) return false;
  const asked = { conversationId, limit: TASKS_MAX };
  const tasks = await readAgain(parts, 'task.openOf', asked);
  return !tasks.some((task) => own.includes(task.sessionId));
}

type Latest = Pick<Scene, 'head' | 'open' | 'task'>;

/** The words that the next request is to answer: kept behind the fence, or of a turn that was ended for it. */
async function readLatest(
  parts: EngineParts,
  { id: conversationId }: ConversationRecord,
): Promise<Latest> {
  const limit = LIMITS.inputsPerLookMax;
  const kept = await readAgain(parts, 'message.unbound', { conversationId, limit });
  const head = kept.find(({ kind }) => kind === 'genuine')?.text.length ?? 0;
  const [said] = await readAgain(parts, 'message.newestSaid', { conversationId, limit: 1 });
  if (said === undefined || said.taskId === null) return { head, open: null, task: undefined };
  const task = await readAgain(parts, 'task.byId', { id: said.taskId });
  const isOpen = said.state === 'claimed' && said.claimedSeq !== null && task?.state === 'active';
  const open = isOpen ? { chars: said.text.length, seq: said.claimedSeq } : null;
  return { head, open, task };
}

/** How the provider counted the last request of the session; null where too much stands in it to be known. */
async function readReported(
  parts: EngineParts,
  about: {
    readonly conversation: ConversationRecord;
    readonly session: SessionRecord;
    readonly task: TaskRecord | undefined;
    readonly base: number;
  },
  window: number,
): Promise<Reported | null> {
  const { conversation, session, task, base } = about;
  const place = { conversationId: conversation.id, sessionId: session.id };
  const before = conversation.seq + 1;
  const history = await readHistory(parts, { ...place, before }, mostChars(window));
  const { seed, turns, isOver } = history;
  if (isOver) return seed?.reported ?? null;
  const scale = scaleOf(history, base);
  if (seed === null) return scale;
  // The request that was reported had what the host says beside the summary.
  const free = freeChars(window, base, scale);
  const said = await sayShortened(parts, { conversation, session, task, seed, free });
  return lastReported(history, base + said.chars + sizeOfTurns(turns));
}

/** The largest summary that may stand for the session, in characters: less with each failure (M-19). */
export function summaryMax({ free }: Scene, { failures }: OperationRecord): number {
  const share = Math.floor((free * LIMITS.summaryShare) / 2 ** Math.min(failures, 2));
  return Math.max(SUMMARY_CHARS_MIN, Math.min(LIMITS.summaryCharsMax, share));
}

const SUMMARY_CHARS_MIN = 400;

/** Where the session is cut; undefined where nothing stands behind its cut. Less is kept with each failure (M-19). */
export function cutOf(scene: Scene, { failures }: OperationRecord): Cut | undefined {
  const { tail, free, open } = scene;
  const steps = LIMITS.sessionStepsKept;
  if (failures > 1) return planCut(tail, { chars: 0, steps });
  // The words that are to be answered stay word for word where there is room for them (M-12).
  const fromOpen = open === null ? 0 : charsFrom(tail, open.seq);
  const least = fromOpen > free / 2 ? 0 : fromOpen;
  return planCut(tail, { chars: Math.max(Math.floor(free * LIMITS.tailShare), least), steps });
}

function charsFrom(tail: readonly Exchange[], seq: number): number {
  const open = tail.filter(({ lastSeq }) => lastSeq >= seq);
  return open.reduce((sum, { chars }) => sum + chars, 0);
}

/**
 * The sizes of what no operation can shorten, in tokens, when they do not fit the window with the reserve
 * (M-18); null when they do.
 */
export async function tooLarge(parts: EngineParts, scene: Scene): Promise<JsonObject | null> {
  const { reported, window, instructions, tools, head, open, tail } = scene;
  const message = Math.max(head, open?.chars ?? 0);
  const { cutSeq } = scene.session;
  const known = scene.seed ?? NO_SEED;
  // A summary that will be made anew may be as short as it must; what the host says around it may not.
  const isMade = tail.length > 0 && scene.runtime === undefined;
  const seeded = await sizeWith(parts, scene, isMade ? { ...known, summary: '.' } : known, cutSeq);
  const { seed } = seeded;
  const all = instructions + tools + seed + seeded.facts + message;
  if (countTokens(all, reported) <= requestRoom(window)) return null;
  const tokens = (chars: number): number => countTokens(chars, reported);
  return {
    window,
    reserve: answerReserve(window),
    instructions: tokens(instructions),
    tools: tokens(tools),
    seed: tokens(seed + seeded.facts),
    message: tokens(message),
    ...(message > all / 2 ? { ends: endOf(scene) } : {}),
  };
}

/** What ends the request that holds the words which take most of the window. */
function endOf({ head, open, task }: Scene): string {
  const isOpen = open !== null && open.chars >= head;
  return isOpen && task !== undefined ? `/stop ${task.id}` : '/stop all';
}

const NO_SEED: SessionSeed = { summary: '', conditions: [], sinceSeq: 0, reported: null };

async function sizeWith(
  parts: EngineParts,
  { conversation, session, task, free }: Scene,
  seed: SessionSeed,
  cutSeq: number,
): Promise<{ readonly seed: number; readonly facts: number; readonly open: number }> {
  const about = {
    conversation,
    task,
    session: { ...session, cutSeq, seed: writeSeed(seed) },
    seed,
    free,
  };
  const said = await sayShortened(parts, about);
  return { seed: said.seedChars, facts: said.factsChars, open: said.openChars };
}

/** Whether the request that comes next fits the window with this seed and what is kept behind the cut (M-19). */
export async function fitsAfter(
  parts: EngineParts,
  scene: Scene,
  { seed, cut }: { readonly seed: SessionSeed; readonly cut: Cut },
): Promise<boolean> {
  const { instructions, tools, head, reported, window } = scene;
  const said = await sizeWith(parts, scene, seed, cut.cutSeq);
  const all = instructions + tools + said.seed + said.facts + said.open + cut.keptChars + head;
  return countTokens(all, reported) <= requestRoom(window);
}

/** Whether the request that comes next is below the share of the window from which on a session is maintained. */
export async function fitsAsItIs(
  parts: EngineParts,
  scene: Scene,
  startAt: number,
): Promise<boolean> {
  const { instructions, tools, head, tail, reported, window, session } = scene;
  const known = scene.seed ?? NO_SEED;
  const said = await sizeWith(parts, scene, known, session.cutSeq);
  const kept = tail.reduce((sum, { chars }) => sum + chars, 0);
  const all = instructions + tools + said.seed + said.facts + said.open + kept + head;
  return countTokens(all, reported) < startAt * window;
}

/** What stands for a session from now on, as far as it is known before its commit. */
export function seedOf(
  { reported, window, stated }: Pick<Scene, 'reported' | 'window' | 'stated'>,
  said: Pick<SessionSeed, 'summary' | 'conditions'>,
): SessionSeed {
  const { summary, conditions } = said;
  const refused = window < stated ? { window } : {};
  return { summary, conditions, sinceSeq: 0, reported, ...refused };
}
