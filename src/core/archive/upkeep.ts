// What the records of maintenance may say, each taken for itself. Whatever a file says, a fence that it
// brings has its operation, and that has a next look or a person who is told (M-8, M-15).
import { isOpen } from '../maintenance/decide.ts';
import { OPERATION_STEPS, type OperationRecord } from '../maintenance/record.ts';
import { isId } from '../../kernel/ids.ts';
import { isObject, readObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { fieldProblem, instant, ordinal, text, whole, type AnyField } from './field.ts';
import type { ArchiveRecords } from './record.ts';
import type { Rule } from './rule.ts';

export const FENCE_RULES: readonly Rule<ArchiveRecords['conversation']>[] = [
  {
    broken: ({ fence, operationId }) => (fence === 'none') !== (operationId === null),
    says: 'The fence of the conversation does not fit its operationId.',
  },
];

export const SEED_RULES: readonly Rule<ArchiveRecords['session']>[] = [
  {
    broken: ({ seed }) => seed !== null && !isSeed(readObject(seed)),
    says: 'The seed of the session is not a summary with its conditions.',
  },
  {
    broken: ({ seed, cutSeq, compactions }) => seed === null && cutSeq + compactions > 0,
    says: 'The session has no seed and a cut or compactions.',
  },
  {
    broken: ({ id, previousId, nextId }) =>
      previousId === id || nextId === id || (nextId !== null && nextId === previousId),
    says: 'The session goes on from itself.',
  },
];

const TRIES: readonly Rule<OperationRecord>[] = [
  {
    broken: ({ attemptAt, hostId }) => (attemptAt === null) !== (hostId === null),
    says: 'The hostId of the operation does not fit its attemptAt.',
  },
  {
    broken: ({ attemptAt, state, attempts }) =>
      attemptAt !== null && (state !== 'running' || attempts === 0),
    says: 'The operation has a try that is out and is not at one.',
  },
  {
    broken: (operation) => operation.nextAttemptAt === null && isDue(operation),
    says: 'The nextAttemptAt of the operation does not say when it is tried again.',
  },
  {
    broken: (operation) => operation.nextAttemptAt !== null && !isDue(operation),
    says: 'The operation has a nextAttemptAt and is not tried again.',
  },
  {
    broken: ({ failures, lifetimeFailures }) => failures > lifetimeFailures,
    says: 'The failures of the operation are more than its lifetimeFailures.',
  },
];

export const OPERATION_RULES: readonly Rule<OperationRecord>[] = [
  {
    broken: ({ kind, step }) => !(OPERATION_STEPS[kind] as readonly string[]).includes(step),
    says: 'The step of the operation does not fit its kind.',
  },
  {
    broken: ({ state, reason }) =>
      state === 'blocked' ? reason === null : reason !== null && state !== 'dropped',
    says: 'The reason of the operation does not fit its state.',
  },
  {
    broken: (operation) => isOpen(operation) === (operation.endedAt !== null),
    says: 'The endedAt of the operation does not fit its state.',
  },
  ...TRIES,
  {
    broken: ({ kind, nextSessionId }) => kind === 'compact' && nextSessionId !== null,
    says: 'The operation compacts and has a nextSessionId.',
  },
  {
    broken: ({ kind, step, state, nextSessionId }) =>
      kind === 'handover' &&
      nextSessionId === null &&
      state !== 'dropped' &&
      (step === 'rotate' || step === 'seed'),
    says: 'The operation hands over and has no nextSessionId.',
  },
  {
    broken: ({ noticeId, noticeAt, state }) =>
      noticeAt !== null && (noticeId === null || (state !== 'running' && state !== 'waiting')),
    says: 'The noticeAt of the operation is of no notice that is still to leave.',
  },
  {
    broken: ({ state, fault }) => state === 'waiting' && fault === null,
    says: 'The operation waits and its fault does not say why.',
  },
  {
    broken: (operation) => !hasFault(operation),
    says: 'The fault of the operation is not what its reason has.',
  },
  {
    broken: ({ work }) => work !== null && !isWork(readObject(work)),
    says: 'The work of the operation is not how far a summary has come.',
  },
  {
    broken: (operation) => isOpen(operation) && isBehindSummary(operation) && !isWhole(operation),
    says: 'The operation is behind its summary and its work does not hold it.',
  },
];

function isBehindSummary({ kind, step }: OperationRecord): boolean {
  return kind === 'handover' && step !== 'summarise';
}

function isWhole({ work }: OperationRecord): boolean {
  const { cutSeq, doneSeq } = readObject(work);
  return cutSeq !== undefined && cutSeq === doneSeq;
}

/** Whether a look of the host is to try it: then it has to say when, or nobody ever looks. */
function isDue({ state, attemptAt }: OperationRecord): boolean {
  return (state === 'running' || state === 'waiting') && attemptAt === null;
}

/** Whether a value has the form of a field. */
function fits(field: AnyField, value: Json | undefined): boolean {
  return value !== undefined && fieldProblem(field, value) === undefined;
}

const SIZES = ['window', 'reserve', 'instructions', 'tools', 'seed', 'message'];

/** Of `base_too_large` the sizes of what does not fit, else what the last failure said: a notice repeats it. */
function hasFault({ fault, reason }: OperationRecord): boolean {
  if (fault === null) return reason !== 'base_too_large';
  return reason === 'base_too_large' ? isTooLarge(readObject(fault)) : isFault(readObject(fault));
}

function isTooLarge({ ends = '/stop all', ...sizes }: JsonObject): boolean {
  return isStop(ends) && has(sizes, SIZES, whole);
}

function isFault({ isMixed = false, ...said }: JsonObject): boolean {
  return typeof isMixed === 'boolean' && has(said, ['code', 'said'], text);
}

/** The one command that a notice takes from there. */
function isStop(command: Json): boolean {
  if (typeof command !== 'string') return false;
  const [stop, what = '', ...more] = command.split(' ');
  return stop === '/stop' && more.length === 0 && (what === 'all' || isId('task', what));
}

/** Whether it has these and no others, each of them of this form. */
function has(found: JsonObject, names: readonly string[], field: AnyField): boolean {
  const isAlone = Object.keys(found).length === names.length;
  return isAlone && names.every((name) => fits(field, found[name]));
}

function isSeed({ sinceSeq, reported, window, ...said }: JsonObject): boolean {
  const isWindow = window === undefined || fits(ordinal, window);
  return isSummary(said) && fits(whole, sinceSeq) && isReported(reported) && isWindow;
}

/** What a provider had counted for how many characters. */
function isReported(reported: Json | undefined): boolean {
  if (reported === null) return true;
  if (reported === undefined || !isObject(reported)) return false;
  return fits(whole, reported['tokens']) && fits(whole, reported['chars']);
}

function isSummary({ summary, conditions }: JsonObject): boolean {
  return fits(text, summary) && Array.isArray(conditions) && conditions.every(isCondition);
}

function isCondition(condition: Json): boolean {
  return isObject(condition) && fits(instant, condition['at']) && fits(text, condition['text']);
}

function isWork({ cutSeq, doneSeq, ...said }: JsonObject): boolean {
  const isInside = fits(whole, doneSeq) && Number(doneSeq) <= Number(cutSeq);
  return fits(whole, cutSeq) && isInside && isSummary(said);
}
