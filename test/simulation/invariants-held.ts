// B-4, B-8, B-10 and V9 over the rows: history sleeps as it is, until somebody orders exactly it awake or over.
import type { MessageRecord } from '../../src/core/inbox/record.ts';
import type { EventRecord } from '../../src/core/session/record.ts';
import { dataOf, group, type Dump } from './dump.ts';
import type { History } from './history.ts';
import { isAdminName } from './people.ts';
import { Problems } from './problems.ts';

export function judgeHeld(history: History, dump: Dump): readonly string[] {
  const problems = new Problems();
  const ordered = ordersOf(history, dump);
  const ofTask = group(dump.events, ({ taskId }) => taskId);
  for (const { id } of dump.tasks) judgeTask(problems, ofTask.get(id) ?? [], ordered);
  judgeSummaries(problems, dump);
  judgeInputs(problems, dump);
  return problems.found;
}

/** Every exact order that somebody gave about a task, over the API or by a command. */
function ordersOf(history: History, dump: Dump): ReadonlySet<string> {
  const rooms = new Map<string, string>(dump.tasks.map((task) => [task.id, task.conversationId]));
  return new Set([
    ...history.orders.map(({ kind, subjectId, by }) => `${kind} ${subjectId} ${by}`),
    ...[...history.exactStops].map((one) => `stop ${one}`),
    ...dump.messages.flatMap((message) => commandOf(message, rooms) ?? []),
  ]);
}

function commandOf(
  { kind, text, principal, conversationId, channel }: MessageRecord,
  rooms: ReadonlyMap<string, string>,
): string | undefined {
  const [, name, id = ''] = /^\/(stop|task-resume) (task_\w+)/.exec(text) ?? [];
  if (kind !== 'command' || name === undefined) return undefined;
  if (name === 'stop') return `stop ${id} ${principal}`;
  // History is woken in its own conversation, or where the installation's own person sits (B-8).
  const isThere = channel === 'terminal' || rooms.get(id) === conversationId;
  return isThere ? `resume ${id} ${principal}` : undefined;
}

function judgeTask(
  problems: Problems,
  events: readonly EventRecord[],
  ordered: ReadonlySet<string>,
): void {
  let isHeld = false;
  for (const [index, event] of events.entries()) {
    if (event.type === 'task.held') isHeld = true;
    if (!isHeld || event.type === 'task.held') continue;
    if (event.type === 'task.enrolled') {
      isHeld = false;
      judgeEnrolled(problems, event, ordered);
    }
    // The move of a resume stands before or behind its mark.
    const isOfResume = events[index + 1]?.type === 'task.enrolled';
    if (event.type !== 'task.moved' || isOfResume) continue;
    isHeld = false;
    judgeStopped(problems, event, ordered);
  }
}

function judgeEnrolled(problems: Problems, event: EventRecord, ordered: ReadonlySet<string>): void {
  const { by, taskId } = event;
  // One that was restored once more is judged anew by its proof (B-3).
  if (dataOf(event)['by'] !== 'resume') return;
  const isOrdered = isAdminName(by) && ordered.has(`resume ${taskId} ${by}`);
  problems.unless(isOrdered, () => `V9 ${taskId} was enrolled by ${by}, who never said so`);
}

/** An exact stop is the only other thing that happens to it. */
function judgeStopped(
  problems: Problems,
  { by, taskId, toState }: EventRecord,
  ordered: ReadonlySet<string>,
): void {
  const isEnd = toState === 'stopped' || toState === 'cancelled';
  const isExact = isEnd && ordered.has(`stop ${taskId} ${by}`);
  problems.unless(isExact, () => `V9 the held ${taskId} moved to ${toState} by ${by}`);
}

/** B-10: one summary for all of a boundary; a report may hold it. */
function judgeSummaries(problems: Problems, dump: Dump): void {
  const summaries = group(
    dump.outbox.filter(({ code }) => code === 'held_legacy'),
    ({ subjectId }) => subjectId,
  );
  for (const { id, toldAt, held, workersHeld } of dump.boundaries) {
    const own = summaries.get(id) ?? [];
    const told = own.length;
    problems.unless(told <= 1, () => `V8 the summary of ${id} was told ${told} times`);
    problems.unless(
      told === 0 || toldAt !== null,
      () => `B-10 ${id} was told and does not know it`,
    );
    // What had not left when the store was restored is told too (B-2).
    const { unsent = 0 } = JSON.parse(own[0]?.params ?? '{}') as { readonly unsent?: number };
    const hasSome = held + workersHeld + unsent > 0;
    problems.unless(told === 0 || hasSome, () => `B-10 ${id} held nothing and was told`);
  }
  const reports = dump.outbox.filter(({ code }) => code === 'restart_report').length;
  problems.unless(reports <= dump.hosts.length, () => `R-13 ${reports} reports were told`);
}

/** B-4: what is set aside stays so. */
function judgeInputs(problems: Problems, dump: Dump): void {
  const states = new Map<string, string>(dump.tasks.map((task) => [task.id, task.enrollment]));
  for (const { id, kind, state, turnId, taskId } of dump.messages) {
    if (state === 'held') {
      problems.unless(kind === 'generated' && turnId === null, () => `B-4 ${id} is held`);
      continue;
    }
    const isOpen = kind === 'generated' && state === 'unclaimed';
    const isHeld = isOpen && states.get(taskId ?? '') === 'held-legacy';
    problems.unless(!isHeld, () => `B-4 the input ${id} of the held ${taskId} is not set aside`);
  }
}

/** B-10 at rest: whoever reads something has been told what is held, by the last that judged it. */
export function judgeToldHeld({ boundaries, conversations }: Dump): readonly string[] {
  const last = boundaries.at(-1);
  const hasReader = conversations.some(({ channel }) => channel !== 'api');
  if (last === undefined || !hasReader) return [];
  const { id, held, toldAt } = last;
  return held > 0 && toldAt === null ? [`B-10 nobody was told of the ${held} tasks of ${id}`] : [];
}

/** V9: every field of what is held stays as it was. */
export class SeenHeld {
  readonly #seen = new Map<string, string>();

  /** A restore has taken every mark. */
  restored(): void {
    this.#seen.clear();
  }

  judge(dump: Dump): readonly string[] {
    const problems = new Problems();
    for (const row of [...dump.tasks, ...dump.executions]) {
      const { id, enrollment, endedAt } = row;
      if (enrollment !== 'held-legacy' || endedAt !== null) {
        this.#seen.delete(id);
        continue;
      }
      const now = JSON.stringify(row);
      const before = this.#seen.get(id) ?? now;
      problems.unless(before === now, () => `V9 the held ${id} was ${before} and is ${now}`);
      this.#seen.set(id, now);
    }
    return problems.found;
  }
}

/** what a recovery tells with its diagnostics off, and on. */
export function judgeDiagnostics(dump: Dump, areOn: boolean): readonly string[] {
  const problems = new Problems();
  const count = (code: string): number => dump.outbox.filter((one) => one.code === code).length;
  const ended = dump.events.filter(({ type }) => type === 'assessment.ended');
  const missed = ended.filter((event) => {
    const { outcome, attempt } = dataOf(event);
    return (outcome === 'failed' || outcome === 'invalid') && Number(attempt) < 3;
  });
  // One whose deadline or order is past by then lets nothing go on, and its end has words of its own (T-7, T-15).
  const granted = new Set(
    dump.events
      .filter((event) => event.type === 'task.moved' && dataOf(event)['recovery'] === 'granted')
      .map(({ conversationId, seq }) => `${conversationId} ${seq}`),
  );
  const continued = ended.filter(
    (event) =>
      dataOf(event)['outcome'] === 'continue' &&
      granted.has(`${event.conversationId} ${event.seq + 1}`),
  );
  const due = { assessment_missed: missed.length, assessment_continues: continued.length };
  for (const [code, want] of Object.entries(due)) {
    const [got, wanted] = [count(code), areOn ? want : 0];
    problems.unless(got === wanted, () => `R-7 ${code} was told ${got} times, not ${wanted}`);
  }
  return problems.found;
}
