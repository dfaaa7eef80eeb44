import type { StepRecord } from '../../core/turn/record.ts';
import { isObject, parseJson, readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ModelCall, ModelFault, ModelOutcome, ModelUsage } from '../../ports/model.ts';
import { dataIn, wordIn, type Entry } from './entry.ts';
import type { Trace } from './trace.ts';

/** What the record has of one call of a model step. */
export interface RecordedCall {
  /** The place in the history that its answer led to; null when the record ends before. */
  readonly seq: number | null;
  /** Null of one that was cut: it is answered when its signal ends it, or never. */
  readonly outcome: ModelOutcome | null;
}

/** The `tries`-th call of a model step, as its row and its events tell it. */
export function callOf(trace: Trace, step: StepRecord, tries: number): RecordedCall {
  const retried = trace.retries(step.id).find((entry) => dataIn(entry)['tries'] === tries + 1);
  if (retried !== undefined) return { seq: retried.seq, outcome: missed(trace, step, retried) };
  if (step.finishedSeq === null) return { seq: null, outcome: null };
  return { seq: step.finishedSeq, outcome: outcomeOf(trace, step) };
}

/** A further try followed: of the same model after what may pass, of another after what did not. */
function missed(trace: Trace, step: StepRecord, retried: Entry): ModelOutcome {
  const { model } = dataIn(retried);
  const code = wordIn(dataIn(retried), 'code');
  const before = trace.retries(step.id).findLast(({ seq }) => seq < retried.seq);
  const isSame = before === undefined ? null : dataIn(before)['model'] === model;
  const passes = isSame === true || mayPass(code);
  return fault(passes ? 'transient' : 'refused', code, '');
}

/** Whether the same model may be asked again after this. */
export function mayPass(code: string): boolean {
  return !REFUSING.test(code);
}

/** Codes that say something for good; others are of what may pass. */
const REFUSING = /^(?:http_4(?!08|09|25|29)\d\d|context_too_long|no_key|refused)/;

function outcomeOf(trace: Trace, step: StepRecord): ModelOutcome | null {
  switch (step.state) {
    case 'finished':
      return replyOf(trace, step);
    case 'failed':
      return failureOf(trace, step);
    case 'started':
    case 'cut':
    case 'uncertain':
      return null;
  }
}

function replyOf(trace: Trace, step: StepRecord): ModelOutcome {
  const reply = readReply(step.output);
  const isLast = trace.turn(step.turnId)?.end === 'invalid' && reply.calls.length === 0;
  const wasCut = isLast && reply.text.trim() !== '';
  return {
    kind: 'reply',
    provider: step.provider ?? '',
    model: step.model ?? '',
    ...reply,
    stop: reply.calls.length > 0 ? 'calls' : wasCut ? 'length' : 'end',
    usage: usageOf(step) ?? { inputTokens: 0, outputTokens: 0, cost: null },
  };
}

function readReply(output: string | null): {
  readonly text: string;
  readonly calls: readonly ModelCall[];
} {
  const parsed = parseJson(output ?? '', LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return { text: output ?? '', calls: [] };
  const { text, calls } = parsed.value;
  return {
    text: typeof text === 'string' ? text : '',
    calls: Array.isArray(calls) ? calls : [],
  };
}

/** What a fault was is read off what the turn made of it. */
function failureOf(trace: Trace, step: StepRecord): ModelOutcome {
  const code = step.errorCode ?? '';
  const message = step.output ?? '';
  const end = trace.turn(step.turnId)?.end;
  if (end === 'invalid') return fault('nonsense', code, message, usageOf(step));
  const wait = trace.entries.find(
    ({ seq, type, facts }) =>
      type === 'task.moved' && seq > step.seq && facts['turnId'] === step.turnId,
  );
  const { wait: kind, until } = dataIn(wait);
  if (kind === 'quota' && typeof until === 'number')
    return { ...fault('transient', code, message, usageOf(step)), retryAt: until };
  const passes = kind === 'provider' || mayPass(code);
  return fault(passes ? 'transient' : 'refused', code, message, usageOf(step));
}

function usageOf({ inputTokens, outputTokens, cost }: StepRecord): ModelUsage | null {
  if (inputTokens === null) return null;
  return { inputTokens, outputTokens: outputTokens ?? 0, cost };
}

/** A fault as a model gives it. */
export function fault(
  kind: ModelFault['class'],
  code: string,
  message: string,
  usage: ModelUsage | null = null,
): ModelFault {
  return { kind: 'fault', class: kind, code, message, retryAt: null, usage };
}

/** What a cut call says once its signal has ended it. */
export function cutCall(step: StepRecord): ModelFault {
  return fault('aborted', step.errorCode ?? 'ended', step.output ?? '', usageOf(step));
}

/** What an assessment came to, from the event of its end. */
export function assessmentOf(ended: Entry): ModelOutcome {
  const data = dataIn(ended);
  const { outcome, reason, inputTokens, outputTokens, cost } = data;
  const code = wordIn(data, 'code');
  const usage =
    typeof inputTokens === 'number'
      ? {
          inputTokens,
          outputTokens: Number(outputTokens ?? 0),
          cost: typeof cost === 'number' ? cost : null,
        }
      : null;
  if (outcome === 'failed') return fault('transient', code, '', usage);
  if (outcome === 'invalid') return fault('nonsense', code, '', usage);
  return said(JSON.stringify({ verdict: outcome, reason }), usage);
}

/** A reply of one of the host's own calls. */
export function said(text: string, usage: ModelUsage | null = null): ModelOutcome {
  const none = { inputTokens: 0, outputTokens: 0, cost: 0 };
  return {
    kind: 'reply',
    provider: 'recorded',
    model: 'recorded',
    text,
    calls: [],
    stop: 'end',
    usage: usage ?? none,
  };
}

/** What the record has of the summary of a session; words in its place where it is gone. */
export function summaryOf({ recording }: Trace, sessionId: string | undefined): string {
  const of = recording.session.filter(({ id }) => sessionId === undefined || id === sessionId);
  for (const { seed, nextId } of of) {
    const next = recording.session.find(({ id }) => id === nextId);
    const { summary } = readObject(seed ?? next?.seed ?? null);
    if (typeof summary === 'string' && summary !== '') return summary;
  }
  return 'The earlier part of this conversation, as far as it is recorded.';
}
