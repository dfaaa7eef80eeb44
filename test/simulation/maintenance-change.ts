// M-1 to M-7, M-18, V5 and V7 of one change of a maintenance operation, as it was committed.
import { isRepeatable, type Delays } from '../../src/core/maintenance/decide.ts';
import {
  MAX_RECOVERY_FAILURES,
  OPERATION_MOVES,
  type OperationRecord,
  type OperationStep,
} from '../../src/core/maintenance/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import type { Write } from '../../src/ports/store.ts';
import { dataOf } from './dump.ts';
import { isAdminName } from './people.ts';
import type { Problems } from './problems.ts';

/** A change of an operation with what was committed beside it. */
export interface Change {
  readonly before: OperationRecord;
  readonly row: OperationRecord;
  /** Those of the operation itself. */
  readonly events: readonly EventRecord[];
  readonly writes: readonly Write[];
}

/** What a change is held against. */
export interface Known {
  readonly native: boolean;
  /** Whether the step that was tried has called anybody. */
  readonly wasMade: boolean;
  /** The pauses that any host of the world is configured with. */
  readonly delays: readonly Delays[];
  /** The version that an admission under this receipt named; undefined where nobody said. */
  readonly expected: (scope: string) => number | undefined;
  /** Whether the command of this receipt is older than the block that it is about. */
  readonly isOlder: (scope: string) => boolean;
}

export function judgeChange(problems: Problems, change: Change, known: Known): void {
  const { before, row } = change;
  const moves: readonly string[] = OPERATION_MOVES[before.state];
  const isLegal = row.state === before.state || moves.includes(row.state);
  problems.unless(isLegal, () => `M-1 ${row.id} moved from ${before.state} to ${row.state}`);
  problems.unless(
    row.version === before.version + 1,
    () => `M-1 ${row.id} went from version ${before.version} to ${row.version}`,
  );
  judgeTries(problems, change);
  const grown = row.lifetimeFailures - before.lifetimeFailures;
  const isOne = grown === 0 || grown === 1;
  problems.unless(isOne, () => `V5 ${row.id} has ${grown} failures more at once`);
  if (row.epoch === before.epoch) judgeEpoch(problems, change, { known, grown });
  else judgeAdmitted(problems, change, known);
  if (row.state === 'blocked' && before.state !== 'blocked') judgeBlock(problems, change, known);
}

/** M-2 and V5: a try is counted by its reservation alone, and none is given back. */
function judgeTries(problems: Problems, { before, row, events }: Change): void {
  const grown = row.attempts - before.attempts;
  const reserved = events.filter(({ type }) => type === 'operation.reserved').length;
  problems.unless(
    grown === reserved && reserved <= 1,
    () => `V5 ${row.id} has ${grown} tries more and ${reserved} were reserved`,
  );
  if (reserved === 0) return;
  problems.unless(before.attemptAt === null, () => `V5 ${row.id} has two tries out`);
  problems.unless(before.state !== 'blocked', () => `V7 ${row.id} is tried while it is blocked`);
  const early = (before.nextAttemptAt ?? Infinity) - (row.attemptAt ?? 0);
  problems.unless(early <= 0, () => `M-3 ${row.id} was tried ${early} ms before its time`);
}

/** V5 and V7: within an epoch failures are counted one by one, and seven are the end. */
function judgeEpoch(
  problems: Problems,
  change: Change,
  { known, grown }: { readonly known: Known; readonly grown: number },
): void {
  const { before, row } = change;
  const { id, failures } = row;
  problems.unless(
    failures === before.failures + grown,
    () => `V5 ${id} had ${before.failures} failures and has ${failures} of one epoch`,
  );
  problems.unless(failures <= MAX_RECOVERY_FAILURES, () => `V7 ${id} has ${failures} failures`);
  const isUsedUp = failures >= MAX_RECOVERY_FAILURES;
  const goesOn = row.state !== 'blocked' && row.state !== 'dropped';
  problems.unless(!isUsedUp || !goesOn, () => `M-4 ${id} goes on after its last failure`);
  if (grown === 1) judgeFailure(problems, change, known);
  else judgeEndOfTry(problems, change);
}

function judgeFailure(problems: Problems, { before, row, events }: Change, known: Known): void {
  const wasTried = before.attemptAt !== null;
  const mayFail = wasTried || before.state === 'done';
  problems.unless(mayFail, () => `M-2 ${row.id} failed without a try`);
  if (row.state !== 'waiting') return;
  const code = codeIn(events);
  // What was done and freed too little, or was not even begun, was neither rejected nor cut (M-19).
  const isCut = code === 'interrupted' || (known.wasMade && code !== 'full');
  const isUncertain = isCut && !isHarmless(before.step, known);
  problems.unless(
    !isUncertain,
    () => `M-6 the uncertain ${before.step} of ${row.id} is to be made again`,
  );
  judgePause(problems, row, { code, delays: known.delays });
}

/** M-3: it waits as long as its failures say; a nearer instant that the provider named is waited for (T-18). */
function judgePause(
  problems: Problems,
  { id, failures, nextAttemptAt, changedAt }: OperationRecord,
  { code, delays }: { readonly code: string; readonly delays: readonly Delays[] },
): void {
  const pause = (nextAttemptAt ?? 0) - changedAt;
  const isNamed = code.startsWith('http_4');
  const fits = delays.some(({ firstDelayMs, maxDelayMs }) => {
    const due = Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1));
    return pause === due || (isNamed && pause > due);
  });
  problems.unless(fits, () => `M-3 ${id} waits ${pause} ms after its failure ${failures}`);
}

/** A try that is over has failed, came further, waits for a quota, or went with its operation. */
function judgeEndOfTry(problems: Problems, { before, row }: Change): void {
  if (before.attemptAt === null || row.attemptAt !== null) return;
  const isOver = row.state === 'done' || row.state === 'dropped';
  const isPaused = row.quotaWaits === before.quotaWaits + 1 && row.state === 'waiting';
  const isCounted = row.step !== before.step || isOver || isPaused;
  problems.unless(isCounted, () => `V5 a try of ${row.id} was given back`);
}

/** M-4, M-6 and M-18: each block has its cause. */
function judgeBlock(problems: Problems, { before, row }: Change, known: Known): void {
  const { id, reason, failures, attempts } = row;
  problems.unless(reason !== null, () => `V8 ${id} is blocked without a reason`);
  const isUsedUp = reason !== 'exhausted' || failures >= MAX_RECOVERY_FAILURES;
  problems.unless(isUsedUp, () => `M-4 ${id} is exhausted after ${failures} failures`);
  const isDoubtful = reason !== 'uncertain' || !isHarmless(before.step, known);
  problems.unless(isDoubtful, () => `M-6 the repeatable ${before.step} of ${id} is uncertain`);
  const isTried = attempts > before.attempts || failures > before.failures;
  const isSpared = reason !== 'base_too_large' || !isTried;
  problems.unless(isSpared, () => `M-18 a try of ${id} was used for nothing`);
}

function isHarmless(step: OperationStep, { native }: Known): boolean {
  return isRepeatable(step, native ? 'native' : 'built-in');
}

function codeIn(events: readonly EventRecord[]): string {
  const moved = events.find(({ type }) => type === 'operation.moved');
  return moved === undefined ? '' : String(dataOf(moved)['code']);
}

/** M-7: an admin's word, a receipt that was never used, the version that is meant. */
function judgeAdmitted(problems: Problems, change: Change, known: Known): void {
  const { before, row, events, writes } = change;
  const { id, epoch, kind, failures } = row;
  const by = events.find(({ type }) => type === 'operation.admitted')?.by ?? 'itself';
  const isNext = epoch === before.epoch + 1;
  problems.unless(isNext, () => `V5 ${id} went from epoch ${before.epoch} to ${epoch}`);
  problems.unless(isAdminName(by), () => `V5 ${id} came to epoch ${epoch} by ${by}`);
  const isBlocked = before.state === 'blocked';
  problems.unless(isBlocked, () => `M-7 ${id} was admitted while it was ${before.state}`);
  problems.unless(failures === 0, () => `M-7 ${id} begins its epoch with ${failures} failures`);
  const due = before.reason === 'uncertain' ? 'handover' : before.kind;
  const say = (): string => `M-7 the ${before.reason} ${before.kind} ${id} was admitted as ${kind}`;
  problems.unless(kind === due, say);
  const receipt = writes.find((write) => write.write === 'receipt.insert');
  if (receipt?.write === 'receipt.insert')
    return judgeReceipt(problems, before, { scope: receipt.row.scope, known });
  problems.unless(false, () => `V5 ${id} was admitted and its receipt stays unused`);
}

function judgeReceipt(
  problems: Problems,
  { id, version }: OperationRecord,
  { scope, known }: { readonly scope: string; readonly known: Known },
): void {
  const expected = known.expected(scope) ?? version;
  const say = (): string => `M-7 ${id} of version ${version} was admitted for version ${expected}`;
  problems.unless(expected === version, say);
  const isNew = !known.isOlder(scope);
  problems.unless(isNew, () => `M-7 ${id} was admitted by words from before it was blocked`);
}
