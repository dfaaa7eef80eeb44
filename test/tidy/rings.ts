// Which folder of src may import which. Read this before you add a folder.
import { dirname, join } from 'node:path/posix';
import { isTest, withoutComments, type Files } from './source.ts';

export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  core: ['kernel'],
  ports: ['kernel', 'core'],
  text: ['kernel'],
  wire: ['kernel'],
  client: ['kernel', 'wire'],
  plugin: ['kernel', 'core', 'ports'],
  testing: ['kernel', 'core', 'ports'],
  adapters: ['kernel', 'core', 'ports'],
  engine: ['kernel', 'core', 'ports', 'text'],
  http: ['kernel', 'core', 'ports', 'text', 'wire', 'engine'],
  compose: [
    'kernel',
    'core',
    'ports',
    'text',
    'wire',
    'client',
    'plugin',
    'testing',
    'adapters',
    'engine',
    'http',
  ],
  cli: ['kernel', 'text', 'wire', 'client', 'compose'],
  /** The library's door. */
  'index.ts': ['kernel', 'core', 'ports', 'wire', 'client', 'plugin', 'compose'],
};

/** No package and nothing of Node: what decides runs anywhere and always the same. */
const PURE = ['kernel', 'core', 'ports'];
/** The console runs these in a browser. */
const PORTABLE = ['text', 'wire', 'client'];
/** Only these load what is named at run time: plugins. */
const LOADERS = ['adapters', 'compose'];
/** Each folder in here is a stranger to the others. */
const STRANGERS = ['adapters'];

const UNTELLING = ['common', 'helpers', 'lib', 'services', 'shared', 'types', 'utils'];
const MOST_LINES = 400;

const STATIC = /(?:^|;)\s*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\s*\(\s*(?:(['"`])([^'"`$]*)\1)?/g;
const WIDE_EXPORT = /^\s*export\s+(?:default\b|\*|\{[^}]*\bas default\b)/m;

/** What is wrong with the product's files, each as one sentence that begins with its path. */
export function objections(files: Files): string[] {
  return [...files].filter(([path]) => !isTest(path)).flatMap(([path, text]) => inFile(path, text));
}

/** Folder names that say nothing of what lives there. */
export function untellingFolders(paths: Iterable<string>): string[] {
  const folders = [...paths].flatMap((path) => path.split('/').slice(0, -1));
  return [...new Set(folders.filter((folder) => UNTELLING.includes(folder)))];
}

export function longFiles(files: Files): string[] {
  return [...files]
    .filter(([, text]) => text.trimEnd().split('\n').length > MOST_LINES)
    .map(([path]) => path);
}

function inFile(path: string, text: string): string[] {
  const ring = ringOf(path);
  if (!(ring in MAY_IMPORT)) return [`${path}: ${ring} is no ring; see test/tidy/rings.ts`];
  if (STRANGERS.includes(ring) && path.split('/').length < 4) {
    return [`${path}: belongs into a folder of ${ring} that names its kind`];
  }
  const code = withoutComments(text);
  const found = targets(code).map((target) => aboutImport(path, target));
  if (WIDE_EXPORT.test(code)) found.push('exports by name only, neither default nor *');
  return found.filter((why) => why !== undefined).map((why) => `${path}: ${why}`);
}

/** What a file imports; undefined where only the run can tell. */
function targets(code: string): (string | undefined)[] {
  const fixed = [...code.matchAll(STATIC)].map((match) => match[1]);
  const late = [...code.matchAll(DYNAMIC)].map((match) => match[2]);
  return [...fixed, ...late];
}

function aboutImport(path: string, target: string | undefined): string | undefined {
  const ring = ringOf(path);
  if (target === undefined) {
    return LOADERS.includes(ring) ? undefined : `${ring} may not import what only the run can name`;
  }
  return target.startsWith('.') ? aboutPath(path, target) : aboutPackage(ring, target);
}

function aboutPackage(ring: string, target: string): string | undefined {
  if (PURE.includes(ring)) return `${ring} is pure and may not use ${target}`;
  if (target.startsWith('/')) return `may not import the absolute path ${target}`;
  if (/^sekisho(?:\/|$)/.test(target)) return `reaches its own package by name: ${target}`;
  if (PORTABLE.includes(ring) && target.startsWith('node:')) {
    return `${ring} also runs in a browser and may not use ${target}`;
  }
  return undefined;
}

function aboutPath(path: string, target: string): string | undefined {
  const aim = join(dirname(path), target);
  const from = ringOf(path);
  const to = ringOf(aim);
  if (!aim.startsWith('src/')) {
    const manifest = aim === 'package.json' && !PURE.includes(from);
    return manifest ? undefined : `leaves src for ${aim}`;
  }
  if (isTest(aim)) return `the product may not import the test ${aim}`;
  if (to !== from) {
    return MAY_IMPORT[from]?.includes(to) ? undefined : `${from} may not import ${to}`;
  }
  const apart = STRANGERS.includes(from) && kindOf(aim) !== kindOf(path);
  return apart ? `${kindOf(path)} may not see ${kindOf(aim)}` : undefined;
}

function ringOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function kindOf(path: string): string {
  return path.split('/').slice(1, 3).join('/');
}
