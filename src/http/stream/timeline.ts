import type { EventRecord } from '../../core/session/record.ts';
import { wasAsked } from '../../core/turn/decide.ts';
import type { StepRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { parseJson, readObject } from '../../kernel/json.ts';
import type { StreamEvent } from '../../wire/stream.ts';
import { iso } from '../call.ts';

/** One place in a conversation's order: an event, or the start or the finish of a step. */
export type Moment =
  | { readonly seq: number; readonly kind: 'event'; readonly event: EventRecord }
  | { readonly seq: number; readonly kind: 'started' | 'finished'; readonly step: StepRecord };

export interface MomentPage {
  readonly moments: readonly Moment[];
  /** Everything up to here has been seen: the next page begins after it. */
  readonly upTo: number;
}

export interface RowPage {
  readonly events: readonly EventRecord[];
  readonly steps: readonly StepRecord[];
  readonly after: number;
  /** The conversation's sequence number, read before the rows: what is above may be half there. */
  readonly committed: number;
  /** How many rows of each kind were asked for. */
  readonly limit: number;
}

/**
 * The union of event rows and step rows by seq (design principle 5). A full page of one kind hides
 * what comes after its last row, so nothing above that is given yet: no moment is skipped and none
 * comes twice. `upTo` stays at `after` when the limit was too small to say anything.
 */
export function orderMoments({ events, steps, after, committed, limit }: RowPage): MomentPage {
  const upTo = Math.min(
    committed,
    horizon(events, limit),
    // Steps come by start; an old one may finish late, and then its start lies before the page.
    horizon(steps, limit),
  );
  const moments: Moment[] = events.map((event) => ({ seq: event.seq, kind: 'event', event }));
  for (const step of steps) {
    moments.push({ seq: step.seq, kind: 'started', step });
    if (step.finishedSeq !== null) moments.push({ seq: step.finishedSeq, kind: 'finished', step });
  }
  const inside = moments.filter(({ seq }) => seq > after && seq <= upTo);
  return { moments: inside.toSorted((a, b) => a.seq - b.seq), upTo: Math.max(after, upTo) };
}

function horizon(rows: readonly { readonly seq: number }[], limit: number): number {
  return rows.length < limit ? Number.POSITIVE_INFINITY : (rows.at(-1)?.seq ?? 0);
}

/** What an event refers to and a reader wants to see whole. */
export interface Words {
  /** The text of an outbox entry or message, rendered. */
  readonly text: string;
  readonly subjectId?: string | null;
  readonly command?: string | null;
  /** Of a notice, as its entry has them. */
  readonly level?: string | null;
  readonly code?: string | null;
}

/** The ids in an event's data that have to be looked up before it can be told. */
export function referencesOf(moment: Moment): {
  readonly outboxId: string | undefined;
  readonly messageId: string | undefined;
} {
  if (moment.kind !== 'event') return { outboxId: undefined, messageId: undefined };
  const { outboxId, messageId } = readObject(moment.event.data);
  return { outboxId: textOf(outboxId), messageId: textOf(messageId) };
}

/** The `evt_` id that a moment has: a start has its step's. */
export function idOf(moment: Moment): string {
  if (moment.kind === 'event') return moment.event.id;
  return moment.kind === 'started' ? moment.step.id : (moment.step.finishedId ?? moment.step.id);
}

/** Talk of the conversation: without its words it is not for a reader of the stream. */
const TALK: readonly string[] = ['message.accepted', 'reply.queued', 'command.answered'];
/** What a conversation's stream has told by its notice already. */
const OF_RUNS = 'run.told';
/** Of which a run's stream leaves out what others say. */
const OTHERS: readonly string[] = ['message.accepted', 'command.answered'];

/**
 * A moment as a reader of a stream gets it, or undefined when streams do not tell of it.
 * `runId` limits the stream to one run; `words` is what the event refers to.
 */
export function tellMoment(
  moment: Moment,
  words: Words | undefined,
  runId: string | null,
): StreamEvent | undefined {
  if (moment.kind !== 'event') return tellStep(moment.step, moment.kind, runId);
  const { event } = moment;
  if (runId !== null && (event.runId !== runId || OTHERS.includes(event.type))) return undefined;
  if (words === undefined && TALK.includes(event.type)) return undefined;
  if (event.type === OF_RUNS && (runId === null || words === undefined)) return undefined;
  return tellEvent(event, words);
}

function tellStep(
  step: StepRecord,
  kind: 'started' | 'finished',
  runId: string | null,
): StreamEvent | undefined {
  if (step.kind !== 'tool' || (runId !== null && step.runId !== runId)) return undefined;
  const { taskId, runId: ofRun, tool } = step;
  const about = { taskId, runId: ofRun, stepId: step.id, tool: tool ?? '' };
  if (kind === 'started') {
    const args = argsOf(step.input);
    return { id: step.id, type: 'tool.started', at: iso(step.startedAt), ...about, args };
  }
  const at = iso(step.finishedAt ?? step.startedAt);
  const id = step.finishedId ?? step.id;
  return { id, type: 'tool.finished', at, ...about, ...resultOf(step) };
}

// `cut` and `uncertain` are outcomes without a result, and their state says which one; a call that
// only waits for a person has none either.
function resultOf(
  step: StepRecord,
): { result: string } | { error: { code: string; text: string } } {
  const { state, output, errorCode } = step;
  const text = output ?? '';
  const hasResult = state === 'finished' && !wasAsked(step);
  return hasResult ? { result: text } : { error: { code: errorCode ?? state, text } };
}

interface Base {
  readonly id: string;
  readonly at: string;
  readonly runId: string | null;
  readonly taskId: string | null;
}

type Teller = (
  base: Base,
  data: Readonly<Record<string, unknown>>,
  words: Words | undefined,
) => StreamEvent;

const TELLERS: Readonly<Record<string, Teller>> = {
  'run.queued': (base) => ({ ...base, type: 'run.queued' }),
  'run.started': (base) => ({ ...base, type: 'run.started' }),
  'model.selected': (base, { provider, model }) => ({
    ...base,
    type: 'model.selected',
    provider: textOf(provider) ?? '',
    model: textOf(model) ?? '',
  }),
  'notice.queued': notice,
  // Its entry has what the event of the conversation's own notice says.
  'run.told': (base, _data, words) => notice(base, { ...words }, words),
  'approval.asked': (base, { approvalId, tool }) => ({
    ...base,
    type: 'approval.asked',
    approvalId: textOf(approvalId) ?? '',
    tool: textOf(tool) ?? '',
  }),
  'approval.decided': (base, { approvalId, state }) => ({
    ...base,
    type: 'approval.decided',
    approvalId: textOf(approvalId) ?? '',
    state: textOf(state) ?? '',
  }),
  'run.completed': (base, _data, words) => ({
    ...base,
    type: 'run.completed',
    output: words?.text ?? '',
  }),
  'run.failed': (base, { code }, words) => ({
    ...base,
    type: 'run.failed',
    outcome: { code: textOf(code) ?? 'failed', message: words?.text ?? '' },
  }),
  'run.cancelled': (base, { code }, words) => ({
    ...base,
    type: 'run.cancelled',
    outcome: { code: textOf(code) ?? 'cancelled', message: words?.text ?? '' },
  }),
  'message.accepted': (base, { messageId }, words) => ({
    ...base,
    type: 'message',
    messageId: textOf(messageId) ?? '',
    role: 'user',
    text: words?.text ?? '',
  }),
  'reply.queued': answer,
  'command.answered': answer,
};

function answer(
  base: Base,
  { outboxId }: Readonly<Record<string, unknown>>,
  words: Words | undefined,
): StreamEvent {
  const messageId = textOf(outboxId) ?? '';
  return { ...base, type: 'message', messageId, role: 'assistant', text: words?.text ?? '' };
}

function notice(
  base: Base,
  data: Readonly<Record<string, unknown>>,
  words: Words | undefined,
): StreamEvent {
  const code = textOf(data['code']) ?? '';
  const level = textOf(data['level']) ?? 'info';
  const subjectId = words?.subjectId ?? base.taskId;
  const sentence = words?.text ?? '';
  return {
    ...base,
    type: 'notice',
    level,
    code,
    subjectId,
    sentence,
    command: words?.command ?? null,
  };
}

function tellEvent(event: EventRecord, words: Words | undefined): StreamEvent | undefined {
  const { id, runId, taskId, type } = event;
  const tell = Object.hasOwn(TELLERS, type) ? TELLERS[type] : undefined;
  return tell?.({ id, at: iso(event.at), runId, taskId }, readObject(event.data), words);
}

/** Arguments as data where the model wrote JSON, else as the text that it wrote. */
function argsOf(input: string | null): unknown {
  const parsed = parseJson(input ?? '{}', LIMITS.jsonDepthMax);
  return parsed.ok ? parsed.value : input;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
