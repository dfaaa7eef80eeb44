import type { LooseFile, PremisesReport } from '../../ports/premises.ts';
import type { Finding } from '../engine.ts';
import { finding } from './findings.ts';
import type { Patient } from './patient.ts';

/** From here on a person should make room, and from there on a store soon finds none. */
const FREE_LOW_BYTES = 1_000_000_000;
const FREE_NONE_BYTES = 100_000_000;
/** Of files that are open to others; the rest is counted. */
const FILES_NAMED = 20;

/** The disk and the files of the state directory, and what of this host is of which version. */
export async function findPremises({ parts }: Patient): Promise<readonly Finding[]> {
  const report = await parts.premises?.examine();
  if (report === undefined) return [];
  const { storeBytes, logBytes, logsBytes, version, node, tz } = report;
  return [
    ...diskOf(report),
    ...filesOf(report),
    finding('sizes', { storeBytes, logBytes, logsBytes }),
    finding('versions', { version, node, tz }),
  ];
}

function diskOf({ folder, freeBytes }: PremisesReport): readonly Finding[] {
  if (freeBytes === null) return [];
  const code =
    freeBytes < FREE_NONE_BYTES
      ? 'disk_full'
      : freeBytes < FREE_LOW_BYTES
        ? 'disk_low'
        : 'disk_roomy';
  return [finding(code, { folder, freeBytes })];
}

function filesOf({ folder, files, loose }: PremisesReport): readonly Finding[] {
  if (loose.length === 0) return [finding('files_private', { folder, files })];
  const more = loose.length - FILES_NAMED;
  return [
    ...loose.slice(0, FILES_NAMED).map(fileOf),
    ...(more > 0 ? [finding('files_open_more', { more })] : []),
  ];
}

function fileOf({ path, mode, wanted }: LooseFile): Finding {
  return finding('file_open', { path, mode: octal(mode), wanted: octal(wanted) }, path);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
