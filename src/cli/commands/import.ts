import { recordsConfigOf, type ConfigOptions } from '../config.ts';
import { CommandEnd } from '../exit.ts';
import { printText } from '../print.ts';
import { Progress } from '../progress.ts';

/** `import`: brings an export into a stopped installation, whole or not at all. */
export async function importAll(file: string, options: ConfigOptions): Promise<void> {
  const config = await recordsConfigOf(options);
  const { importFile } = await import('../../compose/archive.ts');
  const progress = new Progress('records');
  const outcome = await importFile(config, file, (count) => progress.count(count)).finally(() =>
    progress.end(),
  );
  if (outcome.kind === 'refused') {
    const { code, line, problem } = outcome;
    const where = line === 0 ? '' : `${file}, line ${line}: `;
    const what = `${where}${problem} Nothing was imported.`;
    throw new CommandEnd(code === 'no_export' ? 'usage' : 'refused', what);
  }
  printText(summaryOf(outcome));
}

type Outcome = Awaited<ReturnType<typeof import('../../compose/archive.ts').importFile>>;
type Imported = Extract<Outcome, { readonly kind: 'imported' }>;

const NAMES = {
  conversation: ['conversation', 'conversations'],
  task: ['task', 'tasks'],
  message: ['message', 'messages'],
  execution: ['worker', 'workers'],
} as const;

function summaryOf({ header, counts, records, ...left }: Imported): string {
  const { unsent, unanswered, fenced } = left;
  const parts = Object.entries(NAMES).map(([kind, [one, many]]) => {
    const count = counts[kind as keyof typeof NAMES];
    return `${count} ${count === 1 ? one : many}`;
  });
  const lines = [
    `Imported ${records} records of an export of ${header.exportedAt}: ${parts.join(', ')}.`,
    'Nothing of it runs until the next start has judged it: what no ongoing work proves is held then,' +
      ' and a person resumes it task by task.',
  ];
  if (unsent > 0) {
    const what = unsent === 1 ? '1 answer or notice' : `${unsent} answers and notices`;
    lines.push(`${what} may not have left before; nothing is sent again by itself.`);
  }
  if (unanswered > 0) {
    const what = unanswered === 1 ? '1 command' : `${unanswered} commands`;
    lines.push(
      `${what} had no answer yet and will not be carried out: give again what still counts.`,
    );
  }
  if (fenced > 0) {
    const what = fenced === 1 ? '1 conversation' : `${fenced} conversations`;
    lines.push(
      `${what} came in behind maintenance that is not over; it keeps what it has used up. ` +
        'See it with: sekisho maintenance --state open',
    );
  }
  lines.push(
    'After the next start, see what is held with: sekisho tasks --held',
    'See all of it with: sekisho tasks, sekisho conversations, sekisho outbox',
  );
  return lines.join('\n');
}
