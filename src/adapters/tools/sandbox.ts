import { spawn } from 'node:child_process';
import { constants, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { removeLeftGroups } from './process-bound.ts';

/** Found and tried: commands can be held apart from the machine. */
export interface Sandbox {
  /** The bubblewrap binary. */
  readonly bwrap: string;
  /** What this version takes beyond what all take. */
  readonly extra: readonly string[];
}
export type FoundSandbox = Sandbox | { readonly unavailable: string };

/** Whom commands run as, inside and out. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** The host must become it first. */
  readonly isOther: boolean;
}

const NOBODY = 65_534;
const TMP_BYTES = 1_000_000_000;
/** Where programs are. A link, as on merged systems, is made again instead of bound. */
const SYSTEM = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** What programs need of the configuration; never the whole, which holds keys. */
const CONFIGURATION = [
  'alternatives',
  'group',
  'ld.so.cache',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'ssl/certs',
  'ssl/openssl.cnf',
];
const PROBE_MS = 10_000;
const REASON_CHARS = 300;

/**
 * Looks for bubblewrap and really runs `true` in it, as commands on `workspace` will run, since many
 * machines have the program but not the right to use it. Never rejects.
 */
export async function findSandbox(
  from: { readonly workspace?: string; readonly searchPath?: string } = {},
): Promise<FoundSandbox> {
  if (process.platform !== 'linux') return { unavailable: 'bubblewrap exists on Linux alone' };
  await removeLeftGroups();
  const bwrap = await findProgram('bwrap', from.searchPath ?? process.env['PATH'] ?? '');
  if (bwrap === undefined) {
    return { unavailable: 'bubblewrap is not installed (install the package bubblewrap)' };
  }
  let problem = '';
  for (const extra of [['--disable-userns'], []]) {
    const sandbox = { bwrap, extra };
    const found = await probe(sandbox, from.workspace);
    if (found === undefined) return sandbox;
    problem = found;
  }
  return { unavailable: `bubblewrap cannot make a sandbox here: ${problem}` };
}

async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter).filter((part) => isAbsolute(part))) {
    try {
      await access(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Undefined when it worked, else why it did not. */
function probe(sandbox: Sandbox, workspace: string | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    try {
      const identity = identityFor(workspace ?? '/');
      const binds = workspace === undefined ? [] : bindsOf(realpathSync(workspace), []);
      const inside = workspace === undefined ? ['true'] : ['test', '-w', realpathSync(workspace)];
      const child = spawn(
        sandbox.bwrap,
        [...isolation(sandbox, identity), ...binds, '--', ...inside],
        {
          env: { PATH: '/usr/bin:/bin' },
          stdio: ['ignore', 'ignore', 'pipe'],
          timeout: PROBE_MS,
          killSignal: 'SIGKILL',
          ...asOther(identity),
        },
      );
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(0, REASON_CHARS);
      });
      child.on('error', (error) => resolve(error.message));
      child.on('close', (code) => resolve(code === 0 ? undefined : whyNot(said, code)));
    } catch (error) {
      resolve(error instanceof Error ? error.message : String(error));
    }
  });
}

function whyNot(said: string, code: number | null): string {
  const line = said.trim().split('\n')[0] ?? '';
  if (line !== '') return line;
  return code === 1 ? 'the workspace is not writable in it' : `it ended with ${code ?? 'a signal'}`;
}

/**
 * Commands act as the owner of the workspace when the host may choose (as root), so that both can
 * change the files; else as the host's user.
 */
export function identityFor(workspace: string): Identity {
  const uid = process.getuid?.() ?? NOBODY;
  const gid = process.getgid?.() ?? NOBODY;
  if (uid !== 0) return { uid, gid, isOther: false };
  const owner = statSync(workspace);
  return owner.uid === 0
    ? { uid, gid, isOther: false }
    : { uid: owner.uid, gid: owner.gid, isOther: true };
}

/** The spawn options that make the host's child this identity. */
export function asOther(identity: Identity): { uid?: number; gid?: number } {
  return identity.isOther ? { uid: identity.uid, gid: identity.gid } : {};
}

export interface Inside {
  /** Real path; writable at this path inside. */
  readonly workspace: string;
  /** Real path of the folder to run in. */
  readonly folder: string;
  /** Folders that stay empty inside, though a bound one contains them: the host's state. */
  readonly hidden: readonly string[];
  readonly identity: Identity;
}

/** The arguments of bubblewrap up to the program that it runs. */
export function sandboxArguments(sandbox: Sandbox, inside: Inside): string[] {
  return [
    ...isolation(sandbox, inside.identity),
    ...bindsOf(inside.workspace, inside.hidden),
    '--chdir',
    inside.folder,
    '--json-status-fd',
    '3',
    '--',
  ];
}

function isolation(sandbox: Sandbox, identity: Identity): string[] {
  return [
    '--die-with-parent',
    '--unshare-all',
    '--unshare-user',
    ...sandbox.extra,
    '--new-session',
    '--cap-drop',
    'ALL',
    // Root inside would be no root outside, but programs would try what only root can.
    '--uid',
    String(identity.uid === 0 ? NOBODY : identity.uid),
    '--gid',
    String(identity.gid === 0 ? NOBODY : identity.gid),
    '--ro-bind',
    '/usr',
    '/usr',
    ...SYSTEM.flatMap((path) => systemFolder(path)),
    ...CONFIGURATION.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--size',
    String(TMP_BYTES),
    '--tmpfs',
    '/tmp',
  ];
}

function systemFolder(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink()
    ? ['--symlink', readlinkSync(path), path]
    : ['--ro-bind', path, path];
}

/** Later ones lie over earlier ones: a workspace inside a hidden folder stays seen, and the reverse. */
function bindsOf(workspace: string, hidden: readonly string[]): string[] {
  const real = hidden.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  const around = real.filter((path) => workspace.startsWith(`${path}${sep}`));
  const others = real.filter((path) => !around.includes(path) && isBound(path, workspace));
  return [
    ...around.flatMap((path) => ['--tmpfs', path]),
    '--bind',
    workspace,
    workspace,
    ...others.flatMap((path) => ['--tmpfs', path]),
  ];
}

function isBound(path: string, workspace: string): boolean {
  return ['/usr', ...SYSTEM, workspace].some((bound) =>
    `${path}${sep}`.startsWith(`${bound}${sep}`),
  );
}
