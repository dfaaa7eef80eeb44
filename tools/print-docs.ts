// Prints the pages of docs/ that are read off the code: `node tools/print-docs.ts --write`.
// Without `--write` it names the pages that no longer match.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REASONS, type ReasonEntry } from '../src/core/notice/reasons.ts';
import { OUTBOX_MOVES } from '../src/core/outbox/record.ts';
import { RUN_MOVES } from '../src/core/run/record.ts';
import { TASK_MOVES, type TaskReason } from '../src/core/task/moves.ts';
import { STEP_MOVES, TURN_MOVES } from '../src/core/turn/record.ts';
import { EVENTS, STEP_EVENTS } from '../src/kernel/event.ts';
import { REFUSALS } from '../src/kernel/fault.ts';
import { drawMoves, type Moves } from '../src/kernel/moves.ts';
import { SIGNS } from '../src/text/catalogue.ts';
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
    ...diagram('Turn', drawMoves(TURN_MOVES, 'running')),
    ...diagram('Step', drawMoves(STEP_MOVES, 'started')),
    ...diagram('Run', drawMoves(RUN_MOVES, 'open')),
    'While a run is open, its status is read off its task: `queued`, `running` or `waiting`.',
    ...diagram('Outbox entry', drawMoves(OUTBOX_MOVES satisfies Moves, 'pending')),
  ]);
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
  return page('Reasons', [
    'Why a task stands where it stands. Its notice, `why`, the API and this page read one table. Every ' +
      'task that has not ended can also be ended by `/stop ID`, whatever its reason.',
    table(
      ['reason', 'state', 'notice', 'cause', 'command', 'who'],
      Object.entries(REASONS).map(([reason, entry]) => reasonRow(reason as TaskReason, entry)),
    ),
    'Where the request may simply be made anew, its notice says so: ' +
      `${again().join(', ')}. What is sent again is a new task.`,
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
  const commands = entry.ways.map(({ command }) => `\`${command.replace('{id}', 'ID')}\``);
  return [
    `\`${reason}\``,
    entry.state,
    entry.level === null ? 'none' : `${SIGNS[entry.level]} ${entry.level}`,
    EN.causes[reason],
    commands.length === 0 ? 'none' : commands.join(', '),
    [...new Set(entry.ways.map(({ who }) => EN.who[who]))].join(', '),
  ];
}

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
