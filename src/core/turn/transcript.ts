import { HOST_CHANNELS, type MessageRecord } from '../inbox/record.ts';
import type { AskedCall } from './decide.ts';
import type { StepRecord } from './record.ts';

/** One item of a session's transcript, in the order in which the model is shown it. */
export type TranscriptItem =
  | {
      readonly role: 'user';
      readonly seq: number;
      readonly text: string;
      readonly taskId: string | null;
      readonly at: number;
    }
  | {
      readonly role: 'assistant';
      readonly seq: number;
      readonly text: string;
      readonly calls: readonly AskedCall[];
      readonly taskId: string;
      readonly at: number;
    }
  | {
      readonly role: 'tool';
      readonly seq: number;
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly taskId: string;
      readonly at: number;
    };

/** What stands for the result of a call that has none (E-2). */
export const UNKNOWN_OUTCOME =
  'The host stopped while this call was running. Whether it took effect is unknown. Do not assume either.';
export const NOT_RUN = 'This call was not run: the turn ended before it began.';
export const CUT = 'This call was cut off before it finished and had no result.';

export interface ModelOutput {
  readonly text: string;
  readonly calls: readonly AskedCall[];
}

/** Reads what a finished model step stored. */
export function readModelOutput(step: Pick<StepRecord, 'output'>): ModelOutput {
  return JSON.parse(step.output ?? '{"text":"","calls":[]}') as ModelOutput;
}

/**
 * The transcript of claimed messages and steps, both given in any order. Every call gets exactly one
 * result and every result has its call, whatever was cut in between (INC-006); a model call without
 * a finished outcome left nothing behind, and neither did one that said nothing (T-8).
 */
export function buildTranscript(
  messages: readonly MessageRecord[],
  steps: readonly StepRecord[],
): readonly TranscriptItem[] {
  const results = new Map<string, StepRecord>();
  for (const step of steps) {
    if (step.kind === 'tool') results.set(placeOf(step, 0), step);
  }
  const users = messages
    .filter((message) => message.claimedSeq !== null && message.kind !== 'command')
    .toSorted((a, b) => a.seq - b.seq)
    .map((message) => ({ seq: message.claimedSeq ?? 0, items: userItems(message, results) }));
  const replies = steps
    .filter((step) => step.kind === 'model' && step.state === 'finished')
    .map((step) => ({ seq: step.seq, items: replyItems(step, results) }));
  return [...users, ...replies].toSorted((a, b) => a.seq - b.seq).flatMap((group) => group.items);
}

/** An input without words says nothing: the turn goes on where the session stands (T-12). */
function userItems(
  message: MessageRecord,
  results: ReadonlyMap<string, StepRecord>,
): readonly TranscriptItem[] {
  const { taskId, at } = message;
  const text =
    message.channel === HOST_CHANNELS.approval ? withResult(message, results) : message.text;
  if (text === '') return [];
  return [{ role: 'user', seq: message.claimedSeq ?? message.seq, text, taskId, at }];
}

/** The result of an approved call is the content of the input that its approval made (E-4). */
function withResult(message: MessageRecord, results: ReadonlyMap<string, StepRecord>): string {
  const result = results.get(`${message.turnId ?? ''} 1`);
  return result === undefined ? message.text : `${message.text}\n\n${resultText(result)}`;
}

function replyItems(
  step: StepRecord,
  results: ReadonlyMap<string, StepRecord>,
): readonly TranscriptItem[] {
  const { text, calls } = readModelOutput(step);
  if (text.trim() === '' && calls.length === 0) return [];
  const taskId = step.taskId;
  const reply = {
    role: 'assistant',
    seq: step.seq,
    text,
    calls,
    taskId,
    at: step.finishedAt ?? step.startedAt,
  } as const;
  const answers = calls.map((call, index) =>
    resultItem(step, call, resultOf(call, results.get(placeOf(step, index + 1)))),
  );
  return [reply, ...answers];
}

// Steps of a turn are gapless, so a call's step is found by its place: providers reuse call ids.
function placeOf(step: StepRecord, further: number): string {
  return `${step.turnId} ${step.ordinal + further}`;
}

function resultOf(call: AskedCall, found: StepRecord | undefined): StepRecord | undefined {
  return found?.callId === call.id ? found : undefined;
}

function resultItem(
  reply: StepRecord,
  call: AskedCall,
  result: StepRecord | undefined,
): TranscriptItem {
  const at = result?.finishedAt ?? reply.finishedAt ?? reply.startedAt;
  const seq = result?.seq ?? reply.seq;
  const item = {
    role: 'tool',
    seq,
    callId: call.id,
    name: call.name,
    taskId: reply.taskId,
    at,
  } as const;
  return { ...item, text: resultText(result), isError: result?.state !== 'finished' };
}

function resultText(result: StepRecord | undefined): string {
  if (result === undefined) return NOT_RUN;
  if (result.state === 'uncertain' || result.state === 'started') return UNKNOWN_OUTCOME;
  if (result.state === 'cut') return result.output ?? CUT;
  return result.output ?? '';
}

/** Characters of an item's texts, those of its calls included. */
function sizeOf(item: TranscriptItem): number {
  const calls =
    item.role === 'assistant'
      ? item.calls.reduce((sum, call) => sum + call.args.length + call.name.length, 0)
      : 0;
  return item.text.length + calls;
}

/** What an item takes of a request beside its texts, in characters, and so does each call in it. */
export const ITEM_CHARS = 40;

/** Characters that items take in a request: more than their texts have. */
export function charsIn(items: readonly TranscriptItem[]): number {
  return items.reduce((sum, item) => {
    const calls = item.role === 'assistant' ? item.calls.length : 0;
    return sum + sizeOf(item) + ITEM_CHARS * (1 + calls);
  }, 0);
}
