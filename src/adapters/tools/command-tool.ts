import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { redactingStream } from '../../kernel/redact.ts';
import { SECOND, type Millis } from '../../kernel/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolOutcome } from '../../ports/tools.ts';
import { about } from './problem.ts';
import { RESULT_FILE_BYTES_MAX, ResultText } from './result.ts';
import { identityFor, sandboxArguments, type FoundSandbox, type Sandbox } from './sandbox.ts';
import { PROCESSES_MAX, SandboxedProcess, type End, type Start } from './sandboxed-process.ts';
import { define, ToolProblem, type BuiltIn, type Running } from './tool.ts';
import { locate } from './workspace-path.ts';

/** The kernel takes at most 128 KiB in one argument. */
const COMMAND_BYTES_MAX = 120_000;
/** Room for the line before the output. */
const FIRST_LINE_BYTES = 400;
/**
 * Bounds the processes in the namespace, where only those of this command count; the shell that
 * does it becomes the command's own, with one pipe for both outputs so that their order holds. `-p` is dash's letter for it, `-u` everyone else's.
 */
const BOUNDED = `exec 2>&1; ulimit -p ${PROCESSES_MAX} 2>/dev/null || ulimit -u ${PROCESSES_MAX} 2>/dev/null; exec /bin/sh -c "$0"`;

export interface CommandHost {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: FoundSandbox;
  readonly secrets: readonly string[];
  readonly hidden: readonly string[];
}

const args = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((text) => !text.includes('\0'), 'has a NUL character')
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

/** `command`: a shell command in the workspace, apart from the machine and its network. */
export function commandTool(workspace: string, host: CommandHost): BuiltIn {
  return define({
    name: 'command',
    description: `Run a shell command (/bin/sh -c) in the workspace, sandboxed and without network; only the workspace is kept. Gives stdout and stderr together. Everything it started ends with it. Default timeout ${LIMITS.toolCommandMs / SECOND} s.`,
    repeatable: 'no',
    changes: 'yes',
    args,
    run: async (wanted, running) => {
      const { sandbox } = host;
      if ('unavailable' in sandbox) throw noSandbox(sandbox.unavailable);
      if (running.signal.aborted) throw new ToolProblem('ended', 'ended before it was started');
      const command = await prepare(workspace, wanted, { ...host, sandbox });
      return runCommand(command, running);
    },
  });
}

function noSandbox(why: string): ToolProblem {
  return new ToolProblem(
    'refused',
    `not started: commands need a sandbox and there is none: ${why}. Work with the file tools, or tell the person that the machine needs bubblewrap.`,
  );
}

interface Prepared {
  readonly start: Start;
  readonly workspace: string;
  readonly secrets: readonly string[];
  readonly timeout: Millis;
}

async function prepare(
  workspace: string,
  wanted: CommandArgs,
  host: CommandHost & { readonly sandbox: Sandbox },
): Promise<Prepared> {
  const shown = wanted.folder ?? '.';
  const place = await about(shown, () => locate(workspace, shown));
  const folder = join(place.root, ...place.segments);
  const found = await about(shown, () => stat(folder));
  if (!found.isDirectory()) throw new ToolProblem('refused', `${shown}: no folder`);
  const identity = identityFor(place.root);
  const inside = { workspace: place.root, folder, hidden: host.hidden, identity };
  return {
    start: {
      bwrap: host.sandbox.bwrap,
      args: [...sandboxArguments(host.sandbox, inside), '/bin/sh', '-c', BOUNDED, wanted.command],
      // The host's home is not there; what programs leave in theirs goes with the sandbox.
      environment: { ...host.environment, HOME: '/tmp', TMPDIR: '/tmp', PWD: folder },
      identity,
      clock: host.clock,
    },
    workspace,
    secrets: host.secrets,
    timeout:
      wanted.timeoutSeconds === undefined ? LIMITS.toolCommandMs : wanted.timeoutSeconds * SECOND,
  };
}

type Cause = 'timeout' | 'ended' | 'output';

async function runCommand(command: Prepared, running: Running): Promise<ToolOutcome> {
  const started = await about('the sandbox', () => SandboxedProcess.start(command.start));
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
  const result = new ResultText(command.workspace, running.stepId, cap);
  const readers = started.output.map((stream) =>
    readOutput(stream, { result, secrets: command.secrets, onFull: () => endFor('output') }),
  );
  const end = await started.ended();
  timer.abort();
  running.signal.removeEventListener('abort', onAbort);
  await Promise.all([...readers, timeout]);
  return outcomeOf(await result.end(), { end, cause, timeout: command.timeout });
}

async function after(command: Prepared, signal: AbortSignal, then: () => void): Promise<void> {
  await command.start.clock.sleep(command.timeout, signal);
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
