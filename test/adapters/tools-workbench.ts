// What the suites of the built-in tools share: a workspace on the disk, and a look at processes.
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, watch } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { builtInTools, type BuiltInOptions } from '../../src/adapters/tools/built-in.ts';
import { findSandbox, type FoundSandbox } from '../../src/adapters/tools/sandbox.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Shown } from '../../src/core/approval/record.ts';
import type { Examined, ToolCall, ToolOutcome, Tools } from '../../src/ports/tools.ts';

export const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

export const clock: Clock = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  async sleep(ms, signal) {
    await wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};

export const sandbox: FoundSandbox = await findSandbox();
/** Why the tests of commands cannot run here; false when they can. */
export const noSandbox: string | false =
  'unavailable' in sandbox ? `no sandbox: ${sandbox.unavailable}` : false;

export interface Bench extends AsyncDisposable {
  /** Holds the workspace and what must stay out of its reach. */
  readonly outer: string;
  readonly workspace: string;
  readonly tools: Tools;
  call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolOutcome>;
  examine(name: string, args: unknown): Promise<Examined>;
  /** Runs what was approved. */
  approved(name: string, args: unknown, shown: Shown): Promise<ToolOutcome>;
}

type Options = Partial<BuiltInOptions>;

/** A workspace in a new folder, with its tools. Dispose of it. */
export async function bench(options: Options = {}): Promise<Bench> {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), 'tools-')));
  const workspace = join(outer, 'workspace');
  await mkdir(workspace);
  const tools = builtInTools({ workspace, clock, environment: ENVIRONMENT, sandbox, ...options });
  let calls = 0;
  const callOf = (name: string, args: unknown): ToolCall => {
    calls += 1;
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return { name, args: text, stepId: `step_${calls}` };
  };
  return {
    outer,
    workspace,
    tools,
    call: (name, args, signal = new AbortController().signal) =>
      tools.run(callOf(name, args), signal),
    examine: (name, args) => tools.examine(callOf(name, args)),
    approved: (name, args, shown) =>
      tools.run(callOf(name, args), new AbortController().signal, shown),
    async [Symbol.asyncDispose]() {
      await rm(outer, { recursive: true, force: true });
    },
  };
}

/** Resolves when the file is there. */
export function appears(path: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!existsSync(path)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(path), look);
    look();
  });
}

let marks = 0;
/** A number of seconds that no other process sleeps for, so that its sleeper can be found. */
export function uniqueSleep(): string {
  marks += 1;
  return `1234.${process.pid}${basename(import.meta.filename).length}${marks}`;
}

/** How many processes of the machine have `mark` in their command line. */
export function processesWith(mark: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name).includes(mark))
    .length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
