import type { TaskRecord } from '../../core/task/record.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SIGNS, type Catalogue } from '../../text/catalogue.ts';
import { quoteRequest } from '../../text/quote.ts';
import { sayInstant } from '../../text/when.ts';
import type { Doing } from '../task/doing.ts';
import { sayDoing } from '../task/doing-sentence.ts';
import { standingOf } from '../task/standing-sentence.ts';
import type { Speaking } from './speaking.ts';

/** A line for each of the first tasks, then how many more there are. */
export function taskLines(
  speaking: Speaking,
  tasks: readonly TaskRecord[],
  read: {
    readonly turn: TurnRecord | undefined;
    /** What that turn does now. */
    readonly doing: Doing | null;
    readonly isWhole: boolean;
  },
): readonly string[] {
  const { turn, doing } = read;
  const lines = tasks.map((task) => () => taskLine(speaking, task, { turn, doing }));
  return shownLines(speaking.words, lines, { isWhole: read.isWhole });
}

/** The first lines, then a count of the rest; `isWhole`: there are no more than these. */
export function shownLines(
  { answers }: Catalogue,
  lines: readonly (() => string)[],
  { isWhole }: { readonly isWhole: boolean },
): readonly string[] {
  const shown = lines.slice(0, LIMITS.namedMax).map((line) => line());
  const rest = lines.length - shown.length;
  if (rest === 0) return shown;
  return [...shown, isWhole ? answers.more(String(rest)) : answers.moreThan(String(rest))];
}

/** A task as a list shows it: its sign, its request, how it stands since when, and its id. */
export function taskLine(
  speaking: Speaking,
  task: TaskRecord,
  { turn, doing }: { readonly turn: TurnRecord | undefined; readonly doing: Doing | null },
): string {
  const { words, reader, now } = speaking;
  const sign = task.state === 'waiting' || task.state === 'blocked' ? task.state : 'info';
  const about = { request: quoteRequest(words, task.mandateText), id: task.id };
  if (doing !== null && standingOf(task, turn) === 'running')
    return `${SIGNS[sign]} ${words.answers.doingLine({ ...about, doing: sayDoing(speaking, doing) })}`;
  const line = words.answers.taskLine({
    ...about,
    state: stateInWords(words, task, turn),
    since: sayInstant(reader, words.tag, task.changedAt, now),
  });
  return `${SIGNS[sign]} ${line}`;
}

function stateInWords(words: Catalogue, task: TaskRecord, turn: TurnRecord | undefined): string {
  const standing = standingOf(task, turn);
  if (standing === 'queued') return words.answers.queued;
  if (standing === 'running' || standing === 'cut' || standing === 'stopping')
    return words.answers.running;
  if (task.waitKind !== null) return words.answers.waitingFor(words.waits[task.waitKind]);
  return words.states[standing];
}
