// V8 and O-6: every entry into a state has the notices that the table of reasons names, and no more.
import { REASONS, reasonEntry } from '../../src/core/notice/reasons.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import { isSilent } from './order-forms.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import { renderStoredNotice } from '../../src/text/render.ts';
import { dataOf, group, type Dump } from './dump.ts';
import { Problems } from './problems.ts';

/** Each notice with what it has to be counted against. */
export function judgeNotices(problems: Problems, dump: Dump): void {
  const notices = group(
    dump.outbox.filter((entry) => entry.kind === 'notice'),
    (entry) => entry.taskId,
  );
  const moves = group(
    dump.events.filter((event) => event.type === 'task.moved'),
    (event) => event.taskId,
  );
  const approvals = group(dump.approvals, (approval) => approval.taskId);
  for (const task of dump.tasks) {
    const { id } = task;
    judgeReason(problems, task);
    const asked = approvals.get(id) ?? [];
    const calls = asked.filter(({ kind }) => kind === 'call').length;
    const told = (moves.get(id) ?? []).filter((move) => !foundNothing(move, dump));
    const due = { ...movesBy(told), awaits_approval: calls };
    const uncertain = asked.length - calls;
    const expected = new Map(Object.entries({ ...due, uncertain_effect: uncertain }));
    judgeCounts(problems, task, { expected, told: notices.get(id) ?? [] });
  }
}

/** What stands still says why. */
function judgeReason(problems: Problems, task: TaskRecord): void {
  const { correctionsUsed, id, state, reason } = task;
  const stands = state !== 'blocked' && state !== 'waiting' && state !== 'paused';
  // One that an older version parked is found by the doctor.
  const isSaid = stands || reason !== null || isSilent(task);
  problems.unless(isSaid, () => `V8 ${id} is ${state} without a reason`);
  const fits = reason === null || reasonEntry(reason)?.state === state;
  problems.unless(fits, () => `V8 ${id} is ${state} for ${reason}`);
  problems.unless(correctionsUsed <= 1, () => `T-8 ${id} was corrected ${correctionsUsed} times`);
}

/**
 * A turn that only found out that its provider is still away goes on with the wait that was told (T-18),
 * and so does a polling window that is set once more (T-6).
 */
function foundNothing({ reason, turnId, ...move }: EventRecord, dump: Dump): boolean {
  const isAgain = move.fromState === 'waiting' && move.toState === 'waiting';
  if (isAgain && dataOf(move)['wait'] == null) return true;
  if (reason !== 'awaits_provider') return false;
  const inputs = dump.messages.filter((message) => message.turnId === turnId);
  const steps = dump.steps.filter((step) => step.turnId === turnId);
  const isScout = inputs.length > 0 && inputs.every(({ channel }) => channel === 'scout');
  return isScout && !steps.some(({ kind, state }) => kind === 'model' && state === 'finished');
}

/** How often a task came to stand for each notice. */
function movesBy(moves: readonly EventRecord[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const move of moves) {
    const code = codeOf(move);
    if (code !== null) counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

function codeOf({ reason }: EventRecord): string | null {
  return reason === null ? null : (reasonEntry(reason)?.notice ?? null);
}

const COUNTED: ReadonlySet<string> = new Set(
  [...Object.values(REASONS).map(({ notice }) => notice), 'uncertain_effect'].filter(
    (code) => code !== null,
  ),
);

function judgeCounts(
  problems: Problems,
  { id }: TaskRecord,
  of: {
    readonly expected: ReadonlyMap<string, number>;
    readonly told: readonly { readonly code: string | null; readonly level: string | null }[];
  },
): void {
  const told = Map.groupBy(of.told, ({ code }) => code ?? '');
  for (const code of COUNTED) {
    const [want, got] = [of.expected.get(code) ?? 0, told.get(code) ?? []];
    const say = (): string =>
      `V8 ${id} came to ${code} ${want} times and ${got.length} notices say so`;
    problems.unless(want === got.length, say);
    const level = LEVELS.get(code);
    const isLevel = got.every((notice) => level === undefined || notice.level === level);
    problems.unless(isLevel, () => `V8 ${id} was told ${code} as ${got[0]?.level}`);
  }
}

const LEVELS: ReadonlyMap<string, string | null> = new Map(
  Object.values(REASONS).map(({ notice, level }) => [notice ?? '', level]),
);

const READER = { locale: 'en', timeZone: 'UTC' } as const;

/** V8: the notice of a task that stands still quotes every command that leaves its state. */
export function judgeWords(dump: Dump): readonly string[] {
  const problems = new Problems();
  for (const task of dump.tasks) {
    if (task.state !== 'blocked' && task.state !== 'paused') continue;
    const entry = reasonEntry(task.reason);
    if (entry?.notice == null) continue;
    const { notice: code, ways } = entry;
    const notice = dump.outbox.findLast((one) => one.taskId === task.id && one.code === code);
    if (notice === undefined) continue;
    const text = renderStoredNotice(READER, code, notice.params, notice.at);
    // Its words are those of the voice page, which leaves the stop to `/why`.
    const isBrief = code === 'recovery_assessment_failed';
    for (const { command } of ways.filter(({ effect }) => !isBrief || effect !== 'stop')) {
      const words = command.replace('{id}', task.id).replace(' {grant}', '');
      problems.unless(text.includes(words), () => `V8 the notice ${code} does not quote ${words}`);
    }
  }
  return problems.found;
}
