import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ReplayedDecision, ReplayOutcome } from '../../compose/replay.ts';
import { printableJson } from '../../kernel/printable.ts';
import { recordsConfigOf, type ConfigOptions } from '../config.ts';
import { CommandEnd } from '../exit.ts';
import { printText } from '../print.ts';
import { counted, decisionLines, differenceLines, obstacleLine } from '../replay/words.ts';

export interface ReplayOptions extends ConfigOptions {
  readonly conversation?: string;
  readonly archive?: string;
  readonly script?: string;
}

/** `replay`: a recorded conversation, or the script of a simulated world, run again step by step. */
export async function replay(options: ReplayOptions): Promise<void> {
  const { conversation, script } = options;
  if (script !== undefined && conversation === undefined) return replayScript(script);
  if (conversation === undefined || script !== undefined)
    throw new CommandEnd('usage', 'sekisho: replay takes --conversation ID or --script FILE');
  const { replayConversation } = await import('../../compose/replay.ts');
  const config = await recordsConfigOf(options);
  const source = { conversationId: conversation, archive: options.archive };
  const tell = options.json === true ? tellJson : tellText;
  end(options, conversation, await replayConversation(config, source, tell));
}

function tellJson(decision: ReplayedDecision): void {
  printLine({ kind: 'decision', ...decision });
}

function tellText(decision: ReplayedDecision): void {
  printText(decisionLines(decision));
}

/** One JSON document a line. */
function printLine(value: unknown): void {
  printText(printableJson(JSON.stringify(value)));
}

function end(options: ReplayOptions, conversation: string, outcome: ReplayOutcome): void {
  if (outcome.kind === 'unknown')
    throw new CommandEnd('not_found', `There is no conversation ${conversation} in it.`);
  if (outcome.kind === 'unreadable')
    throw new CommandEnd('usage', `${options.archive ?? ''}: ${outcome.problem}`);
  if (options.json === true) printLine(outcome);
  else printText(`\n${closing(outcome)}`);
  if (outcome.kind === 'differs') throw new CommandEnd('failed', '');
  if (outcome.kind === 'cannot') throw new CommandEnd('refused', '');
}

type Ended = Exclude<ReplayOutcome, { readonly kind: 'unknown' | 'unreadable' }>;

function closing(outcome: Ended): string {
  switch (outcome.kind) {
    case 'same': {
      const { decisions, events } = outcome;
      return `This version decides as recorded: ${counted(decisions, 'decision')}, ${counted(events, 'event')}.`;
    }
    case 'differs':
      return differenceLines(outcome);
    case 'cannot':
      return obstacleLine(outcome);
  }
}

/** The simulation's world is no part of the package: it stands in a checkout, beside `src`. */
async function replayScript(script: string): Promise<void> {
  const world = resolve(join(import.meta.dirname, '../../../test/simulation/run.ts'));
  if (!existsSync(world)) {
    const why = 'The script of a seed needs the simulated world, which only a checkout has.';
    throw new CommandEnd('refused', `${why} Run it there: npm run sekisho -- replay --script FILE`);
  }
  const child = spawn(process.execPath, [world, '--script', resolve(script)], { stdio: 'inherit' });
  await once(child, 'exit');
  if (child.exitCode !== 0) throw new CommandEnd('failed', '');
}
