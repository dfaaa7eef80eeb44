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
  /** When the last report was told: what it said is not said again. */
  readonly since: Instant;
}

/** What is to be decided since the last report: questions first, then tasks; each newest first. */
export function reportItems({ tasks, questions, since }: ReportFacts): readonly ReportItem[] {
  return [
    ...questions
      .filter(({ approval }) => approval.state === 'open' && approval.at > since)
      .map(({ approval, task }) => ({
        ...about(task),
        code: 'uncertain_effect',
        command: `/approve ${approval.id}`,
      })),
    ...tasks
      .filter(({ changedAt }) => changedAt > since)
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
