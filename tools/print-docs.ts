// Prints the pages of docs/ that are read off the code: `node tools/print-docs.ts --write`.
// Without `--write` it names the pages that no longer match.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPROVAL_MOVES } from '../src/core/approval/record.ts';
import { ENROLLMENT_MOVES } from '../src/core/boundary/record.ts';
import { LIMITER_MOVES } from '../src/core/budget/record.ts';
import { EXECUTION_MOVES } from '../src/core/dispatch/record.ts';
import { USAGES } from '../src/core/inbox/command.ts';
import {
  OPERATION_REASONS,
  waysOfOperation,
  type TypedOperationWay,
} from '../src/core/maintenance/reasons.ts';
import {
  BLOCK_REASONS,
  OPERATION_MOVES,
  OPERATION_STEPS,
  type BlockReason,
  type OperationKind,
} from '../src/core/maintenance/record.ts';
import { REASONS, type ReasonEntry, type Way } from '../src/core/notice/reasons.ts';
import { OUTBOX_MOVES } from '../src/core/outbox/record.ts';
import { RECOVERY_MOVES } from '../src/core/recovery/record.ts';
import { RUN_MOVES } from '../src/core/run/record.ts';
import { TASK_MOVES, WAIT_REASONS, type TaskReason } from '../src/core/task/moves.ts';
import { STEP_MOVES, TURN_MOVES } from '../src/core/turn/record.ts';
import { EVENTS, STEP_EVENTS } from '../src/kernel/event.ts';
import { REFUSALS } from '../src/kernel/fault.ts';
import type { OperationId } from '../src/kernel/ids.ts';
import { drawMoves, type Moves } from '../src/kernel/moves.ts';
import { NOTICES, SIGNS, type NoticeCode } from '../src/text/catalogue.ts';
import { EN } from '../src/text/en.ts';

const ROOT = join(import.meta.dirname, '..');
const PRINTED = 'Printed from the code by `tools/print-docs.ts`; a test compares the two.';

/** Each printed page: its path from the root, and its text. */
export function printDocs(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/states.md', states()],
    ['docs/events.md', events()],
    ['docs/reasons.md', reasons()],
  ]);
}

function states(): string {
  return page('States', [
    'What a record may become from where it stands. A state without an arrow that leaves it is an end, ' +
      'and a record never leaves its end.',
    ...diagram('Task', drawMoves(TASK_MOVES, 'active')),
    'A task that waits says what for, and its reason says so too: ' +
      `${Object.entries(WAIT_REASONS).map(waitOf).join(', ')}. One that was interrupted waits for its ` +
      '`assessment`, or while nobody who could make it is reachable for the `provider`, with the reason ' +
      '`interrupted`.',
    ...diagram('Recovery of a task', drawMoves(RECOVERY_MOVES, 'none')),
    '`needed`: it was interrupted, and no turn of it begins. `granted`: its assessment said that it may ' +
      'go on. `followed`: a turn of it has begun; once one is completed, its attempts count anew.',
    ...diagram('Enrollment of a task and of a worker', drawMoves(ENROLLMENT_MOVES, 'current')),
    'What comes with an import is `unmarked` until the boundary has judged it, and what had ended stays ' +
      'so. `held-legacy` is left only by an admin who wakes exactly one.',
    ...diagram('Maintenance operation', drawMoves(OPERATION_MOVES, 'running')),
    'An operation makes room in a session. Its steps, in order: ' +
      `${Object.entries(OPERATION_STEPS).map(stepsOf).join('; ')}. It is \`running\` while a step is due or ` +
      'being tried, `waiting` until the next try of one that failed, and `blocked` until an admin lets it go ' +
      'on. One that is `done` and freed too little is taken up again with one more failure.',
    'From its first step until it is `done` or `dropped` its conversation has a fence: `shut` while it runs ' +
      'or waits, `blocked` while it is. No turn begins behind it; messages are kept and commands answered. ' +
      'After it is `done` the fence has `passed` until a turn has been completed, and then there is none.',
    ...diagram('Worker', drawMoves(EXECUTION_MOVES, 'ready')),
    ...diagram('Approval', drawMoves(APPROVAL_MOVES, 'open')),
    'An approval of a task that has ended is `denied`, by the host.',
    ...diagram('Turn', drawMoves(TURN_MOVES, 'running')),
    ...diagram('Step', drawMoves(STEP_MOVES, 'started')),
    ...diagram('Run', drawMoves(RUN_MOVES, 'open')),
    'While a run is open, its status is read off its task: `queued`, `running` or `waiting`.',
    ...diagram('Limiter of a provider and account', drawMoves(LIMITER_MOVES, 'open')),
    '`limited`: few calls go out, one at a time once its time is over. `down`: cheap probes look for it, ' +
      'and its tasks wait. `refused`: the key, the account or its balance was turned down.',
    ...diagram('Outbox entry', drawMoves(OUTBOX_MOVES satisfies Moves, 'pending')),
  ]);
}

function stepsOf([kind, steps]: readonly [string, readonly string[]]): string {
  return `${kind} (${steps.map((step) => `\`${step}\``).join(', ')})`;
}

function waitOf([kind, reason]: readonly [string, string]): string {
  return `\`${kind}\` (\`${reason}\`)`;
}

function diagram(heading: string, drawing: string): readonly string[] {
  return [`## ${heading}`, ['```mermaid', drawing, '```'].join('\n')];
}

function events(): string {
  return page('Events', [
    'Every change appends an event to its conversation, in the same commit, under the next sequence ' +
      'number. An event names who did it, what, when, the task, turn and run that it belongs to, and ' +
      'its states and reason where it has them. Its data is one JSON object.',
    table(['event', 'what it says'], rowsOf(EVENTS)),
    'A step is one row, and that row is the event of its start and of its finish:',
    table(['event', 'what it says'], rowsOf(STEP_EVENTS)),
  ]);
}

function rowsOf(catalogue: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(catalogue).map(([code, sentence]) => [`\`${code}\``, sentence]);
}

function reasons(): string {
  const entries = Object.entries(REASONS) as [TaskReason, ReasonEntry][];
  const ways = entries.flatMap(([, entry]) => entry.ways);
  return page('Reasons', [
    'Why a task stands where it stands. Its notice, `why`, the API and this page read one table. Every ' +
      'task that has not ended can also be ended by `/stop ID`, whatever its reason, and one that is ' +
      'active or waits can be set aside by `/pause ID`, unless it was interrupted.',
    table(
      ['reason', 'state', 'notice', 'cause', 'commands', 'reply'],
      entries.map(([reason, entry]) => reasonRow(reason, entry)),
    ),
    'A reply is the answer to the notice, or a message that names the task by its id, from whoever asked ' +
      'for it or an admin; a question is answered by any message.',
    'Where the request may simply be made anew, its notice says so: ' +
      `${again().join(', ')}. What is sent again is a new task.`,
    '## Ways out',
    table(
      ['command', 'who', 'effect', 'for'],
      [...new Map(ways.map((way) => [wayKey(way), way])).values()]
        .toSorted((one, other) => one.command.localeCompare(other.command, 'en'))
        .map(wayRow),
    ),
    '`GRANT` is what has to be granted at least, as in `turns=+50`; the notice types it.',
    '## Paused conversations',
    'Why the upkeep of a conversation is blocked. No turn begins there until an admin has typed one of the ' +
      'commands, and messages are kept; `/stop` works as ever.',
    table(['reason', 'notice', 'cause', 'commands'], BLOCK_REASONS.map(pausedRow)),
    table(['command', 'who', 'effect'], pausedWayRows()),
    'A `compact` whose outcome is unknown is never made again: it goes on as a handover alone.',
    '## Notices',
    'What the host says by itself. Each is given once for what caused it.',
    table(
      ['notice', 'level', 'given for'],
      Object.entries(NOTICES).map(([code, level]) => [
        `\`${code}\``,
        `${SIGNS[level]} ${level}`,
        occasionOf(code as NoticeCode),
      ]),
    ),
    '## Commands',
    table(
      ['command', 'what it does'],
      USAGES.map(({ usage, key }) => [`\`${usage}\``, EN.help[key]]),
    ),
    '## Refusals',
    'An expected no: nothing was changed. The codes are the same on the command line, in the API and in ' +
      'the answers to commands.',
    table(
      ['code', 'what it says', 'in words'],
      Object.entries(REFUSALS).map(([code, meaning]) => [
        `\`${code}\``,
        meaning,
        EN.refusals[code as keyof typeof REFUSALS]({}),
      ]),
    ),
  ]);
}

function reasonRow(reason: TaskReason, entry: ReasonEntry): readonly string[] {
  const { level, notice } = entry;
  return [
    `\`${reason}\``,
    entry.state,
    level === null || notice === null ? 'none' : `${SIGNS[level]} ${level}, \`${notice}\``,
    EN.causes[reason],
    entry.ways.length === 0 ? 'none' : entry.ways.map(typed).join(', '),
    entry.reply ? 'yes' : 'no',
  ];
}

function wayRow(way: Way): readonly string[] {
  const has = ({ ways }: ReasonEntry): boolean =>
    ways.some((other) => wayKey(other) === wayKey(way));
  const reasonsOf = Object.entries(REASONS).filter(([, entry]) => has(entry));
  const named = reasonsOf.map(([reason]) => `\`${reason}\``).join(', ');
  const occasion = way.effect === 'stop' ? 'whatever has not ended' : named;
  return [typed(way), EN.who[way.who], EN.effects[way.effect], occasion];
}

/** The same command may be another's to give, and come to something else. */
function wayKey({ command, who, effect }: Way): string {
  return [command, who, effect].join('|');
}

function typed({ command }: Way): string {
  const shown = command
    .replace('{id}', 'ID')
    .replace('{wait}', 'APPROVAL')
    .replace('{grant}', 'GRANT');
  return `\`${shown}\``;
}

/** A blocked operation of this kind as far as its ways out read it, with its id as a reader types it. */
function pausedWays(reason: BlockReason, kind: OperationKind): readonly TypedOperationWay[] {
  return waysOfOperation({ id: 'OPERATION' as OperationId, kind, state: 'blocked', reason });
}

function pausedRow(reason: BlockReason): readonly string[] {
  return [
    `\`${reason}\``,
    `${SIGNS.blocked} blocked, \`${OPERATION_REASONS[reason].notice}\``,
    EN.maintenance.reasons[reason],
    KINDS.map((kind) => `${kind}: ${pausedWays(reason, kind).map(quoted).join(', ')}`).join('; '),
  ];
}

const KINDS = Object.keys(OPERATION_STEPS) as readonly OperationKind[];

function quoted({ command }: { readonly command: string }): string {
  return `\`${command}\``;
}

function pausedWayRows(): readonly (readonly string[])[] {
  const all = BLOCK_REASONS.flatMap((reason) => KINDS.flatMap((kind) => pausedWays(reason, kind)));
  const ways = [...new Map(all.map((way) => [way.command, way])).values()];
  return ways.map((way) => [quoted(way), EN.who[way.who], EN.effects[way.effect]]);
}

/** The reasons that a notice is given for; of one that no reason has, in words. */
function occasionOf(code: NoticeCode): string {
  const all = [...Object.entries(REASONS), ...Object.entries(OPERATION_REASONS)];
  const named = all.filter(([, { notice }]) => notice === code);
  if (named.length > 0) return named.map(([reason]) => `\`${reason}\``).join(', ');
  return OCCASIONS[code] ?? '';
}

const OCCASIONS: Partial<Record<NoticeCode, string>> = {
  interrupted: 'an interruption, by versions before the assessment',
  assessment_unreached: 'an assessment that has waited ten minutes for its model provider',
  assessment_missed: 'an attempt that failed and was not the last, where each step is told',
  assessment_continues: 'an assessment that lets a task go on, where each step is told',
  held_legacy: 'what the boundary holds, in one summary',
  restart_report: 'what is to be decided after a restart',
  safe_mode: 'a start in safe mode, once for each storm of restarts',
  safe_mode_over: 'the end of safe mode',
  goes_on: 'a wait for a quota or a provider that is over',
  model_unavailable: 'a task that the first version ended where this one waits',
  uncertain_effect: 'a call that had begun when its host ended, and may have taken effect',
  kept: 'a reply to a task that words do not wake',
  kept_for_interrupted: 'a reply to a task that waits for its assessment',
  maintenance_waiting: 'a step of maintenance that failed, where it still waits 5 s later',
  maintenance_over: 'the end of maintenance that somebody was told of',
  maintenance_kept: 'the first message that is kept behind a paused conversation',
  clock_distrusted: "the machine's clock having jumped",
  clock_trusted: 'the clock being trusted again',
};

function again(): readonly string[] {
  const worth = Object.entries(REASONS).filter(([, entry]) => entry.again);
  return worth.map(([reason]) => `\`${reason}\``);
}

function page(title: string, blocks: readonly string[]): string {
  return `${[`# ${title}`, PRINTED, ...blocks].join('\n\n')}\n`;
}

/** A table as the formatter wants it: each column as wide as its widest cell. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function main(): void {
  const isWriting = process.argv.includes('--write');
  const stale = [...printDocs()].filter(([path, text]) => readPage(path) !== text);
  for (const [path, text] of stale) {
    if (isWriting) writeFileSync(join(ROOT, path), text);
    process.stdout.write(`${path} ${isWriting ? 'written' : 'differs'}\n`);
  }
  process.exitCode = stale.length > 0 && !isWriting ? 1 : 0;
}

/** The text of a page as it stands; undefined when there is none. */
function readPage(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}

if (import.meta.main) main();
