import { openDoctor, openRepairer } from '../../compose/doctor.ts';
import type { DoctorReply, RepairReply } from '../../wire/doctor.ts';
import { configOf } from '../config.ts';
import { askThrough } from '../connect.ts';
import { CommandEnd } from '../exit.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { shellCommand, shellSentence } from '../shell.ts';

export interface DoctorOptions extends ReadOptions {
  readonly repair?: boolean;
}

/** `doctor`: what is wrong and what changes it; with `--repair` what it can mend is mended before. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const repaired =
    options.repair === true
      ? await askThrough(options, openRepairer, ({ client }) => client.repair())
      : undefined;
  const found = await askThrough(
    options,
    // A shell beside the host often has not its secrets: models are then looked at without them.
    async (config) => openDoctor(await configOf(options).catch(() => config), process.env),
    ({ client }) => client.doctor(),
  );
  if (options.json === true) printJson({ ...found, repaired: repaired ?? null });
  else
    printText([...(repaired === undefined ? [] : [mended(repaired)]), ...report(found)].join('\n'));
  // What is wrong has been said; the exit code tells whoever does not read.
  if (found.problems > 0) throw new CommandEnd('failed', '');
}

function mended({ tasks, fences, files }: RepairReply): string {
  if (tasks.length + fences.length + files.length === 0) return 'Nothing was to be mended.\n';
  return [
    ...tasks.map((id) => `Given its reason and its notice: ${id}`),
    ...fences.map((id) => `Held back as its maintenance stands: ${id}`),
    ...files.map((path) => `Closed to others: ${path}`),
    '',
  ].join('\n');
}

const SIGNS = { ok: 'ok', warning: '!', problem: '✗' } as const;
type Item = DoctorReply['items'][number];

/** What is wrong comes first; what is well is one line each below it. */
function report({ items, problems }: DoctorReply): readonly string[] {
  const of = (level: Item['level']): readonly Item[] =>
    items.filter((item) => item.level === level);
  const warnings = of('warning');
  const sum = [counted(problems, 'problem'), counted(warnings.length, 'warning')].join(', ');
  return [
    ...of('problem').map(line),
    ...warnings.map(line),
    ...of('ok').map(line),
    '',
    problems + warnings.length === 0 ? 'Nothing is wrong.' : `${sum}.`,
  ];
}

function line({ level, sentence, command }: Item): string {
  const said = `${SIGNS[level].padEnd(2)}  ${shellSentence(sentence)}`;
  return command === null ? said : `${said}\n      ${shellCommand(command)}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
