import { lstatSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { Premises, PremisesReport } from '../ports/premises.ts';
import type { Config } from './config/load.ts';
import { findLoose, mendFolder } from './folders.ts';
import { storeFileOf } from './store.ts';

/** The state directory and its disk. Nothing in it throws for a file that goes while it is looked at. */
export function premisesOf(config: Config): Premises {
  return {
    examine: () => Promise.resolve(look(config)),
    mend: () => Promise.resolve(mendFolder(config.values.data)),
  };
}

function look({ values }: Config): PremisesReport {
  const folder = values.data;
  const file = storeFileOf(folder);
  const isEmbedded = values.store === 'sqlite';
  return {
    folder,
    ...findLoose(folder),
    freeBytes: freeOf(folder),
    storeBytes: isEmbedded ? sizeOf(file) : null,
    logBytes: isEmbedded ? sizeOf(`${file}-wal`) : null,
    logsBytes: sizeIn(join(folder, 'logs')),
    version: manifest.version,
    node: process.versions.node,
    tz: process.versions['tz'] ?? '',
  };
}

/** What an ordinary user of the disk may still write. */
function freeOf(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sizeIn(folder: string): number {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return 0;
  return readdirSync(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
}
