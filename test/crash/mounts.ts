import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Permission bits prove nothing to root, and nobody else may mount: what mounts is skipped then. */
export const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;

/** An installation's folder whose `data` is a file system of its own, in memory. */
export interface MountedFolder {
  readonly folder: string;
  readonly data: string;
  /** Changes how it is mounted: `size=8m`, `ro`, `rw`. */
  remount(options: string): void;
  /** Unmounts and removes it all. */
  remove(): void;
}

export function mountedFolder(name: string, size: string): MountedFolder {
  const folder = mkdtempSync(join(tmpdir(), `sekisho-${name}-`));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  mkdirSync(join(folder, 'workspace'));
  mount(['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', data]);
  return {
    folder,
    data,
    remount: (options) => mount(['-o', `remount,${options}`, data]),
    remove: () => {
      spawnSync('umount', ['-l', data]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function mount(args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args);
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr.toString()}`);
}
