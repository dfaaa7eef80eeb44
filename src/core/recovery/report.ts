import type { Instant } from '../../kernel/time.ts';
import type { ApprovalRecord } from '../approval/record.ts';
import { waysOf } from '../notice/reasons.ts';
import type { TaskRecord } from '../task/record.ts';

/** One thing that a restart report leaves to a person. */
export interface ReportItem {
  /** The reason of the task, or `uncertain_effect`. */
  readonly code: string;
  readonly taskId: string;
  /** What was asked, whole: whoever tells it cuts it. */
  readonly request: string;
  /** The first way out; null of what has ended. */
  readonly command: string | null;
}

export interface ReportFacts {
  /** `current` tasks that are blocked or expired. */
  readonly tasks: readonly TaskRecord[];
  /** Open questions about an uncertain effect, each with its task. */
  readonly questions: readonly {
    readonly approval: ApprovalRecord;
    readonly task: TaskRecord;
  }[];
  readonly said: Said;
}

/** What earlier reports have told is not told again. */
export interface Said {
  /** When the last was told, of those until `now`. */
  readonly since: Instant;
  /** When the newest of all was told: under a clock that was ahead, after `now`. */
  readonly ahead: Instant;
  readonly now: Instant;
}

function isNews(at: Instant, { since, ahead, now }: Said): boolean {
  return at > since && (at <= now || at > ahead);
}

/** What is to be decided since the last report: questions first, then tasks; each newest first. */
export function reportItems({ tasks, questions, said }: ReportFacts): readonly ReportItem[] {
  return [
    ...questions
      .filter(({ approval }) => approval.state === 'open' && isNews(approval.at, said))
      .map(({ approval, task }) => ({
        ...about(task),
        code: 'uncertain_effect',
        command: `/approve ${approval.id}`,
      })),
    ...tasks
      .filter(({ changedAt }) => isNews(changedAt, said))
      .map((task) => ({
        ...about(task),
        code: task.reason ?? task.state,
        command: waysOf(task)[0]?.command ?? null,
      })),
  ];
}

function about({ id, mandateText }: TaskRecord): Pick<ReportItem, 'taskId' | 'request'> {
  return { taskId: id, request: mandateText };
}
