// What is shown of a call is what runs (E-4, E-6): one text of every byte, made when a person is
// asked and again right before the start.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shown } from '../../core/approval/record.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { chunksOf } from './files.ts';
import { ToolProblem } from './tool-problem.ts';
import { codeOf, locate, openFile, type Place } from './workspace-path.ts';

export type ShownFile = Shown['files'][number];

/** What is shown of a call of any tool but `command`: its arguments and the files that they name. */
export async function shownOfCall(call: {
  readonly tool: string;
  readonly raw: string;
  readonly workspace: string;
  readonly paths: readonly string[];
}): Promise<Shown> {
  const files: ShownFile[] = [];
  for (const path of call.paths) {
    const place = await locate(call.workspace, path);
    files.push({ path: pathOf(place), hash: await hashOf(place) });
  }
  const folder = await realpath(call.workspace);
  return { argv: [call.tool, call.raw], folder, env: {}, files };
}

/** Throws `ToolProblem` with code `changed`, which names what differs, unless both are byte for byte the same. */
export function refuseOther(wouldRun: Shown, approved: Shown): void {
  if (textOf(wouldRun) === textOf(approved)) return;
  const differing = differences(wouldRun, approved).join(', ');
  throw new ToolProblem(
    'changed',
    `not run: it is no longer what was approved; changed since: ${differing}. Make the call again to ask anew.`,
  );
}

/** SHA-256 of a file of the workspace, in hexadecimal; null when there is no such file. */
export async function hashOf(place: Place): Promise<string | null> {
  try {
    await using handle = await openFile(place);
    const hash = createHash('sha256');
    for await (const chunk of chunksOf(handle)) hash.update(chunk);
    return hash.digest('hex');
  } catch (error) {
    if (error instanceof ToolProblem || codeOf(error) !== undefined) return null;
    throw error;
  }
}

export function pathOf(place: Place): string {
  return join(place.root, ...place.segments);
}

function textOf(shown: Shown): string {
  const files = shown.files.map(({ path, hash }) => ({ path, hash }));
  return canonicalJson({ argv: shown.argv, folder: shown.folder, env: shown.env, files });
}

/** Names alone: a value could be long, or nothing for the model to see. */
function differences(a: Shown, b: Shown): string[] {
  const names = new Set([...Object.keys(a.env), ...Object.keys(b.env)]);
  const env = [...names].filter((name) => a.env[name] !== b.env[name]);
  const files = filesThatDiffer(a.files, b.files);
  const found = [
    ...(canonicalJson(a.argv) === canonicalJson(b.argv) ? [] : ['argv']),
    ...(a.folder === b.folder ? [] : ['folder']),
    ...env.map((name) => `env ${name}`),
    ...files.map((path) => `file ${path}`),
  ];
  return found.length > 0 ? found : ['files'];
}

function filesThatDiffer(a: readonly ShownFile[], b: readonly ShownFile[]): string[] {
  const [before, after] = [b, a].map((files) => new Map(files.map((one) => [one.path, one.hash])));
  const paths = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...paths].filter((path) => before?.get(path) !== after?.get(path));
}
