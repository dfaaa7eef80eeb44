import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../folders.ts';
import { CONFIG_KEYS, type ConfigName, type ConfigValues } from './keys.ts';
import type { ConfigProblem } from './problem.ts';

export interface Places {
  /** What a relative path of the file is relative to. */
  readonly folder: string;
  readonly whereOf: (name: ConfigName, path?: readonly PropertyKey[]) => string;
}

interface Named {
  readonly key: ConfigName;
  readonly path: readonly PropertyKey[];
  /** The absolute path that is named there. */
  readonly at: string;
}

/** What is wrong with the folders and files that a configuration names. Makes and changes nothing. */
export function misplaced(
  values: ConfigValues,
  { folder, whereOf }: Places,
): readonly ConfigProblem[] {
  const data: Named = { key: 'data', path: [], at: values.data };
  const absent = resolve(folder, String(CONFIG_KEYS['agent.instructions'].initial));
  const found = [
    ...aboutFolder(data),
    ...workspacesIn(values).flatMap((workspace) => aboutWorkspace(workspace, values.data)),
    ...instructionsIn(values).flatMap((file) => aboutInstructions(file, absent)),
  ];
  return found.map(({ key, path, what, allowed }) => ({
    where: whereOf(key, path),
    key: [key, ...path.map(String)].join('.'),
    what,
    allowed,
  }));
}

interface Objection extends Named {
  readonly what: string;
  readonly allowed: string;
}

function workspacesIn(values: ConfigValues): readonly Named[] {
  const common: Named = { key: 'workspace', path: [], at: values.workspace };
  if (values.agents.length === 0) return [common];
  const own = values.agents.flatMap(({ workspace }, at): readonly Named[] =>
    workspace === undefined ? [] : [{ key: 'agents', path: [at, 'workspace'], at: workspace }],
  );
  return own.length === values.agents.length ? own : [common, ...own];
}

function instructionsIn(values: ConfigValues): readonly Named[] {
  const common: Named = { key: 'agent.instructions', path: [], at: values['agent.instructions'] };
  if (values.agents.length === 0) return [common];
  return values.agents.flatMap(({ instructions }, at): readonly Named[] =>
    instructions === undefined
      ? []
      : [{ key: 'agents', path: [at, 'instructions'], at: instructions }],
  );
}

function aboutFolder(named: Named): readonly Objection[] {
  const found = lookAt(named.at);
  if (found === 'none' || found === 'folder') return [];
  return [
    { ...named, what: `${named.at} is no folder`, allowed: 'a folder, or a path to make one' },
  ];
}

function aboutWorkspace(named: Named, data: string): readonly Objection[] {
  const [own, records] = [realOf(named.at), realOf(data)];
  if (!isInside(own, records) && !isInside(records, own)) return aboutFolder(named);
  const what = `the workspace ${named.at} and the data directory ${data} lie in one another`;
  return [{ ...named, what, allowed: 'two separate folders' }];
}

/** The one that is looked for by itself may be missing; one that somebody named is meant. */
function aboutInstructions(named: Named, absent: string): readonly Objection[] {
  const found = lookAt(named.at);
  if (found === 'file' || (found === 'none' && named.at === absent)) return [];
  const what = { none: 'there is no such file', folder: 'is a folder', closed: 'cannot be read' };
  return [{ ...named, what: `${named.at}: ${what[found]}`, allowed: 'a file of text' }];
}

function lookAt(path: string): 'none' | 'folder' | 'file' | 'closed' {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'none';
    return found.isDirectory() ? 'folder' : 'file';
  } catch {
    return 'closed';
  }
}

/** The path behind symbolic links, as far as it exists. */
function realOf(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path);
  return join(realOf(dirname(path)), basename(path));
}
