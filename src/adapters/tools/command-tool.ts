import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import type { Shown } from '../../core/approval/record.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { redactingStream, redactor } from '../../kernel/redact.ts';
import { SECOND, type Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Examined, ToolOutcome } from '../../ports/tools.ts';
import { filesNamed, SHELL, type Surroundings } from './command-files.ts';
import { needsApproval, type CommandPolicy } from './command-policy.ts';
import { PlainProcess } from './plain-process.ts';
import { about } from './problem.ts';
import { RESULT_FILE_BYTES_MAX, ResultText } from './result.ts';
import { identityFor, sandboxArguments, type FoundSandbox } from './sandbox.ts';
import { SandboxedProcess } from './sandboxed-process.ts';
import { pathOf, refuseOther } from './shown.ts';
import { PROCESSES_MAX, type End, type Started } from './started.ts';
import { ToolProblem } from './tool-problem.ts';
import { define, type BuiltIn, type Running } from './tool.ts';
import { locate } from './workspace-path.ts';

/** The kernel takes at most 128 KiB in one argument. */
const COMMAND_BYTES_MAX = 120_000;
/** Room for the line before the output. */
const FIRST_LINE_BYTES = 400;
/**
 * Bounds the processes, and becomes the command's own shell, with one pipe for both outputs so that
 * their order holds. `-p` is dash's letter for it, `-u` everyone else's.
 */
function boundedShell(command: string, processesMax: number | undefined): readonly string[] {
  const bound =
    processesMax === undefined
      ? ''
      : `ulimit -p ${processesMax} 2>/dev/null || ulimit -u ${processesMax} 2>/dev/null; `;
  return ['-c', `exec 2>&1; ${bound}exec ${SHELL} -c "$0"`, command];
}

export interface CommandHost {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: FoundSandbox;
  readonly secrets: readonly string[];
  readonly hidden: readonly string[];
  readonly policy: CommandPolicy;
}

const args = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((text) => !text.includes('\0'), 'has a NUL character')
    .refine((text) => text.isWellFormed(), 'is no well-formed text')
    .refine(
      (text) => Buffer.byteLength(text) <= COMMAND_BYTES_MAX,
      `over ${COMMAND_BYTES_MAX} bytes`,
    ),
  folder: z.string().min(1).optional(),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(LIMITS.toolCommandMsMax / SECOND)
    .optional(),
});
type CommandArgs = z.infer<typeof args>;

/** `command`: a shell command in the workspace, in a sandbox where the machine has one. */
export function commandTool(workspace: string, host: CommandHost): BuiltIn {
  const bounds =
    'unavailable' in host.sandbox
      ? 'in the workspace, without a sandbox'
      : 'in the workspace, sandboxed and without network; only the workspace is kept';
  return define({
    name: 'command',
    description: `Run a shell command (${SHELL} -c) ${bounds}. Gives stdout and stderr together. Everything it started ends with it. Default timeout ${host.policy.timeoutMs / SECOND} s.`,
    repeatable: 'no',
    changes: 'yes',
    args,
    examine: async (wanted) => examine(await prepare(workspace, wanted, host)),
    run: async (wanted, running) => {
      const prepared = await prepare(workspace, wanted, host);
      await refuseUnapproved(prepared, running.approved);
      if (running.signal.aborted) throw new ToolProblem('ended', 'ended before it was started');
      return runCommand(prepared, running);
    },
  });
}

interface Prepared {
  readonly host: CommandHost;
  readonly command: string;
  readonly around: Surroundings;
  readonly environment: Readonly<Record<string, string>>;
  readonly asks: boolean;
  readonly timeout: Millis;
}

async function prepare(
  workspace: string,
  wanted: CommandArgs,
  host: CommandHost,
): Promise<Prepared> {
  const named = wanted.folder ?? '.';
  const place = await about(named, () => locate(workspace, named));
  const folder = pathOf(place);
  const found = await about(named, () => stat(folder));
  if (!found.isDirectory()) throw new ToolProblem('refused', `${named}: no folder`);
  const isSandboxed = !('unavailable' in host.sandbox);
  // In a sandbox the host's home is not there; what programs leave in theirs goes with it.
  const own = isSandboxed ? { HOME: '/tmp', TMPDIR: '/tmp' } : {};
  const environment = { ...host.environment, ...own, PWD: folder };
  const searchPath = host.environment['PATH'] ?? '';
  const around = { workspace, root: place.root, folder, searchPath };
  const { policy } = host;
  return {
    host,
    command: wanted.command,
    around,
    environment,
    asks: await needsApproval(wanted.command, policy, { ...around, isSandboxed }),
    timeout:
      wanted.timeoutSeconds === undefined ? policy.timeoutMs : wanted.timeoutSeconds * SECOND,
  };
}

async function examine(prepared: Prepared): Promise<Examined> {
  const { approver } = prepared.host.policy;
  try {
    return { needsApproval: prepared.asks, approver, shown: await shownOf(prepared) };
  } catch (error) {
    // Nobody is asked about what cannot be shown, and then it does not run either.
    if (!(error instanceof ToolProblem)) throw error;
    return { needsApproval: false, approver, shown: null };
  }
}

async function shownOf(prepared: Prepared): Promise<Shown> {
  const { command, around, environment, host } = prepared;
  // Whoever is asked could only be shown it masked, which is not what would run.
  if (prepared.asks && redactor(host.secrets)(command) !== command) {
    throw new ToolProblem('refused', 'not started: the command has a secret of the host in it');
  }
  const files = await filesNamed(command, around);
  return { argv: [SHELL, '-c', command], folder: around.folder, env: environment, files };
}

/** The last look before the start: nothing runs that was not shown when somebody had to be asked. */
async function refuseUnapproved(prepared: Prepared, approved: Shown | undefined): Promise<void> {
  if (!prepared.asks && approved === undefined) return;
  const wouldRun = await shownOf(prepared);
  if (approved === undefined)
    throw new ToolProblem('refused', 'not started: here a person has to approve it first');
  refuseOther(wouldRun, approved);
}

function start(prepared: Prepared): Promise<Started> {
  const { command, around, environment, host } = prepared;
  const { sandbox, clock } = host;
  const identity = identityFor(around.root);
  if ('unavailable' in sandbox) {
    return PlainProcess.start({
      program: SHELL,
      args: (processesMax) => boundedShell(command, processesMax),
      folder: around.folder,
      environment,
      identity,
      clock,
    });
  }
  const inside = { workspace: around.root, folder: around.folder, hidden: host.hidden, identity };
  return SandboxedProcess.start({
    bwrap: sandbox.bwrap,
    // In the namespace only the processes of this command count.
    args: [...sandboxArguments(sandbox, inside), SHELL, ...boundedShell(command, PROCESSES_MAX)],
    environment,
    identity,
    clock,
  });
}

type Cause = 'timeout' | 'ended' | 'output';

async function runCommand(command: Prepared, running: Running): Promise<ToolOutcome> {
  const started = await about('the command', () => start(command));
  let cause: Cause | undefined;
  const endFor = (why: Cause): void => {
    cause ??= why;
    started.end();
  };
  const onAbort = (): void => endFor('ended');
  running.signal.addEventListener('abort', onAbort, { once: true });
  if (running.signal.aborted) onAbort();
  const timer = new AbortController();
  const timeout = after(command, timer.signal, () => endFor('timeout'));

  const cap = LIMITS.toolOutputBytesMax - FIRST_LINE_BYTES;
  const result = new ResultText(command.around.workspace, running.stepId, cap);
  const readers = started.output.map((stream) =>
    readOutput(stream, { result, secrets: command.host.secrets, onFull: () => endFor('output') }),
  );
  const end = await started.ended();
  timer.abort();
  running.signal.removeEventListener('abort', onAbort);
  await Promise.all([...readers, timeout]);
  return outcomeOf(await result.end(), { end, cause, timeout: command.timeout });
}

async function after(command: Prepared, signal: AbortSignal, then: () => void): Promise<void> {
  await command.host.clock.sleep(command.timeout, signal);
  if (!signal.aborted) then();
}

interface Sink {
  readonly result: ResultText;
  readonly secrets: readonly string[];
  readonly onFull: () => void;
}

/** Never rejects. */
async function readOutput(stream: Readable, sink: Sink): Promise<void> {
  const decoder = new StringDecoder('utf8');
  const masked = redactingStream(sink.secrets);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      await sink.result.add(masked.push(decoder.write(chunk)));
      if (sink.result.isOverflowing) sink.onFull();
    }
  } catch {
    // Cut off at its end; what came before counts.
  }
  await sink.result.add(masked.push(decoder.end()) + masked.end());
}

interface Ended {
  readonly end: End;
  readonly cause: Cause | undefined;
  readonly timeout: Millis;
}

function outcomeOf(output: string, ended: Ended): ToolOutcome {
  const { exitCode } = ended.end;
  const failure = failureOf(ended);
  if (failure !== undefined) {
    return { kind: 'error', code: failure.code, text: withFirstLine(failure.why, output) };
  }
  if (exitCode !== 0)
    return { kind: 'result', text: withFirstLine(`exit code ${exitCode}`, output) };
  return { kind: 'result', text: output === '' ? '(no output)' : output };
}

function failureOf(ended: Ended): { readonly code: string; readonly why: string } | undefined {
  const everything = 'with everything it started';
  if (ended.cause === 'timeout') {
    const seconds = ended.timeout / SECOND;
    return { code: 'timeout', why: `ended after ${seconds} s, ${everything}` };
  }
  if (ended.cause === 'ended') return { code: 'ended', why: `ended on request, ${everything}` };
  if (ended.cause === 'output') {
    return {
      code: 'failed',
      why: `ended at ${RESULT_FILE_BYTES_MAX} bytes of output, ${everything}`,
    };
  }
  if (ended.end.wasTooMany) {
    return { code: 'failed', why: `ended at ${PROCESSES_MAX} processes, ${everything}` };
  }
  return ended.end.exitCode === undefined
    ? { code: 'failed', why: 'the sandbox failed before the command ran' }
    : undefined;
}

function withFirstLine(line: string, output: string): string {
  return output === '' ? `[${line}]` : `[${line}]\n${output}`;
}
