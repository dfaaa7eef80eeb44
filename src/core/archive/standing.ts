import { HOST_CHANNELS } from '../inbox/record.ts';
import { EXECUTION_MOVES } from '../dispatch/record.ts';
import { hasEnded, type WaitKind } from '../task/moves.ts';
import type { StepRecord } from '../turn/record.ts';
import { isObject, parseJson, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Archived, ArchiveKind, ArchiveRecords } from './record.ts';
import type { Rule } from './rule.ts';
import { FENCE_RULES, OPERATION_RULES, SEED_RULES } from './upkeep.ts';

/** What is wrong with a record taken for itself, as one sentence; undefined when nothing is. */
export function standingProblem({ kind, record }: Archived): string | undefined {
  const rules = RULES[kind] as readonly Rule<unknown>[];
  return rules.find(({ broken }) => broken(record))?.says;
}

/** A record with states of which some end it: whether it has ended, by its state. */
function ended<K extends 'task' | 'turn' | 'run' | 'execution'>(
  kind: K,
  isOver: (record: ArchiveRecords[K]) => boolean,
): readonly Rule<ArchiveRecords[K]>[] {
  return [
    {
      broken: (record) => isOver(record) && record.endedAt === null,
      says: `The ${kind} has ended and its endedAt says when not.`,
    },
    {
      broken: (record) => !isOver(record) && record.endedAt !== null,
      says: `The ${kind} has an endedAt and has not ended.`,
    },
  ];
}

const CHANNELS: ReadonlySet<string> = new Set(Object.values(HOST_CHANNELS));
/** Waits that are looked at after a window, whatever becomes of what they wait for (T-6). */
const WINDOWS: ReadonlySet<string | null> = new Set<WaitKind>([
  'instant',
  'worker',
  'answer',
  'approval',
  'quota',
]);

const WAITS: readonly Rule<ArchiveRecords['task']>[] = [
  {
    broken: ({ state, waitKind, waitId, waitUntil, waitQuestion }) =>
      state !== 'waiting' &&
      [waitKind, waitId, waitUntil, waitQuestion].some((part) => part !== null),
    says: 'The task does not wait and has a wait.',
  },
  {
    broken: ({ waitKind, waitUntil }) => WINDOWS.has(waitKind) && waitUntil === null,
    says: 'The task waits and its waitUntil says how long not.',
  },
  {
    broken: ({ state, reason, waitKind, waitUntil }) =>
      state === 'waiting' && waitKind === null && waitUntil === null && reason !== null,
    says: 'The task waits for nothing and has a reason for it.',
  },
  {
    broken: ({ waitKind, recoveryState, reason }) =>
      waitKind === 'assessment' && (recoveryState !== 'needed' || reason !== 'interrupted'),
    says: 'The task waits for its assessment and needs none.',
  },
  {
    broken: ({ state, dueAt }) => dueAt !== null && (state === 'active' || hasEnded(state)),
    says: 'The task has a dueAt and does not stand still.',
  },
];

const RECOVERY: readonly Rule<ArchiveRecords['task']>[] = [
  {
    broken: ({ recoveryState, recoveryGrantedAt }) =>
      (recoveryState === 'granted') !== (recoveryGrantedAt !== null),
    says: 'The recoveryGrantedAt of the task does not fit its recoveryState.',
  },
  {
    broken: ({ recoveryAttempts }) => recoveryAttempts > LIMITS.recoveryAttempts,
    says: `The recoveryAttempts of the task are more than ${LIMITS.recoveryAttempts}.`,
  },
  {
    broken: ({ recoveryAttempts, recoveryLifetimeAttempts }) =>
      recoveryAttempts > recoveryLifetimeAttempts,
    says: 'The recoveryAttempts of the task are more than its recoveryLifetimeAttempts.',
  },
  {
    broken: ({ recoveryAttempts, recoveryOutcome }) =>
      recoveryAttempts > 0 !== (recoveryOutcome !== null),
    says: 'The recoveryOutcome of the task does not fit its recoveryAttempts.',
  },
  {
    broken: ({ recoveryState, recoveryOutcome }) =>
      (recoveryState === 'granted' || recoveryState === 'followed') &&
      recoveryOutcome !== 'continue',
    says: 'The task goes on by an assessment whose recoveryOutcome is not continue.',
  },
  {
    broken: ({ recoveryState, recoveryAttempts }) =>
      recoveryState === 'none' && recoveryAttempts > 0,
    says: 'The task has recoveryAttempts and needed none.',
  },
  {
    broken: ({ recoveryLifetimeAttempts, recoveryNextAt }) =>
      recoveryLifetimeAttempts === 0 && recoveryNextAt !== null,
    says: 'The task has a recoveryNextAt and no attempt that it follows.',
  },
];

const MESSAGES: readonly Rule<ArchiveRecords['message']>[] = [
  {
    broken: ({ kind, channel }) => (kind === 'generated') !== CHANNELS.has(channel),
    says: 'The channel of the message does not fit its kind: the host has channels of its own.',
  },
  {
    broken: ({ kind, taskId }) => kind === 'generated' && taskId === null,
    says: 'The message is generated and of no task.',
  },
  {
    broken: ({ kind, state, turnId }) =>
      kind === 'command' && (state === 'claimed' || turnId !== null),
    says: 'The message is a command and was claimed by a turn.',
  },
  {
    broken: ({ turnId, claimedSeq }) => (turnId === null) !== (claimedSeq === null),
    says: 'The claimedSeq of the message does not fit its turnId.',
  },
  {
    broken: ({ state, turnId, taskId }) =>
      state === 'claimed' && (turnId === null || taskId === null),
    says: 'The message is claimed and does not say by which turn of which task.',
  },
  {
    broken: ({ state, turnId, answerId }) =>
      (state === 'unclaimed' || state === 'held') && (turnId !== null || answerId !== null),
    says: 'The message was not taken up and has a turn or an answer.',
  },
  {
    broken: ({ runId, taskId }) => runId !== null && taskId === null,
    says: 'The message is of a run and of no task.',
  },
];

const STEPS: readonly Rule<ArchiveRecords['step']>[] = [
  {
    broken: ({ state, finishedId, finishedSeq, finishedAt }) =>
      [finishedId, finishedSeq, finishedAt].some(
        (part) => (part === null) !== (state === 'started'),
      ),
    says: 'The state of the step does not fit its finishedId, finishedSeq and finishedAt.',
  },
  {
    broken: ({ seq, finishedSeq }) => finishedSeq !== null && finishedSeq <= seq,
    says: 'The finishedSeq of the step is not behind its seq.',
  },
  {
    broken: (step) => !isReadable(step),
    says: 'The output of the step is not what a model call gives.',
  },
];

const RULES: { readonly [K in ArchiveKind]: readonly Rule<ArchiveRecords[K]>[] } = {
  conversation: FENCE_RULES,
  session: SEED_RULES,
  operation: OPERATION_RULES,
  task: [...ended('task', ({ state }) => hasEnded(state)), ...WAITS, ...RECOVERY],
  run: [
    ...ended('run', ({ state }) => state !== 'open'),
    {
      broken: ({ state, outcomeCode, outcomeId }) =>
        state === 'open' && (outcomeCode !== null || outcomeId !== null),
      says: 'The run is open and has an outcome.',
    },
  ],
  turn: [
    ...ended('turn', ({ state }) => state === 'ended'),
    {
      broken: ({ state, end }) => (state === 'ended') !== (end !== null),
      says: 'The end of the turn does not fit its state.',
    },
  ],
  message: MESSAGES,
  step: STEPS,
  event: [],
  approval: [
    {
      broken: ({ state, decidedBy, decidedAt }) =>
        [decidedBy, decidedAt].some((part) => (part === null) !== (state === 'open')),
      says: 'The state of the approval does not fit its decidedBy and decidedAt.',
    },
    {
      broken: ({ at, expiresAt }) => expiresAt < at,
      says: 'The approval expires before it was asked for.',
    },
  ],
  outbox: [
    {
      broken: ({ kind, level, code }) =>
        (kind === 'notice') !== (level !== null) || (kind === 'notice' && code === null),
      says: 'The level and the code of the outbox do not fit its kind.',
    },
    {
      broken: ({ code, text }) => (code === null) === (text === null),
      says: 'The outbox has to have a code or a text, and not both.',
    },
    {
      broken: ({ state, deliveredAt }) => (state === 'delivered') !== (deliveredAt !== null),
      says: 'The deliveredAt of the outbox does not fit its state.',
    },
  ],
  execution: [
    ...ended('execution', ({ state }) => EXECUTION_MOVES[state].length === 0),
    {
      broken: ({ taskId, conversationId }) => (taskId === null) !== (conversationId === null),
      says: 'The conversationId of the execution does not fit its taskId.',
    },
  ],
  receipt: [],
  audit: [],
};

/** The text that a finished model call leaves is read whenever its session is shown to a model. */
function isReadable({
  kind,
  state,
  output,
}: Pick<StepRecord, 'kind' | 'state' | 'output'>): boolean {
  if (kind !== 'model' || state !== 'finished' || output === null) return true;
  const parsed = parseJson(output, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return false;
  const { text, calls } = parsed.value;
  return typeof text === 'string' && Array.isArray(calls) && calls.every(isCall);
}

function isCall(call: Json): boolean {
  return isObject(call) && ['id', 'name', 'args'].every((part) => typeof call[part] === 'string');
}
