import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import { nearest } from '../nearest.ts';
import { CONFIG_NAMES, isConfigName, rowOf, type ConfigName } from './keys.ts';
import type { ConfigProblem } from './problem.ts';
import { saysOff } from './values.ts';

/** A value that somebody gave, and where. `whereOf` finds the line of something inside it. */
export interface Given {
  readonly name: ConfigName;
  readonly value: unknown;
  readonly where: string;
  readonly whereOf: (path: readonly PropertyKey[]) => string;
}

export interface FileReading {
  readonly given: readonly Given[];
  readonly problems: readonly ConfigProblem[];
}

/** Reads the text of a configuration file; `file` is how its place is named. Reports every problem. */
export function readConfigText(file: string, text: string): FileReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const reader = new Reader(file, document, lines);
  for (const error of document.errors) {
    const line = error.linePos?.[0].line ?? 1;
    const what = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:$/, '') ?? '';
    reader.problems.push({ where: `${file}:${line}`, key: '', what, allowed: '' });
  }
  if (document.errors.length > 0) return reader;
  try {
    reader.visit(document.contents, []);
  } catch (error) {
    // An alias that names nothing, or aliases of aliases that would fill the memory.
    const what = error instanceof Error ? error.message : 'cannot be read';
    reader.problems.push({ where: file, key: '', what, allowed: '' });
  }
  return reader;
}

class Reader implements FileReading {
  readonly given: Given[] = [];
  readonly problems: ConfigProblem[] = [];
  readonly #file: string;
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;

  constructor(file: string, document: Document.Parsed, lines: LineCounter) {
    this.#file = file;
    this.#document = document;
    this.#lines = lines;
  }

  visit(node: unknown, path: readonly string[]): void {
    const key = path.join('.');
    if (isConfigName(key)) this.#take(key, node, path);
    else if (isMap(node)) this.#visitMap(node.items, path);
    else if (!this.#saysNothing(node, path)) {
      const allowed = `a map with ${namesUnder(path).join(', ')}`;
      this.#problem(this.#where(node), key, 'is no map', allowed);
    }
  }

  #visitMap(
    items: readonly { readonly key: unknown; readonly value: unknown }[],
    path: readonly string[],
  ): void {
    for (const { key, value } of items) {
      const name = isScalar(key) ? String(key.value) : '?';
      const inner = [...path, name];
      const dotted = inner.join('.');
      const known = isConfigName(dotted) || namesUnder(inner).length > 0;
      if (known) this.visit(value, inner);
      else this.#problem(this.#where(key), dotted, `unknown key${meant(inner)}`, '');
    }
  }

  /** `api:` with nothing below it, or `memory: off` for what is not built yet anyway. */
  #saysNothing(node: unknown, path: readonly string[]): boolean {
    const value = this.#plain(node);
    if (value === null || value === undefined) return true;
    const names = CONFIG_NAMES.filter((name) => name.startsWith(`${path.join('.')}.`));
    return saysOff(value) && names.every((name) => rowOf(name).later === true);
  }

  #take(name: ConfigName, node: unknown, path: readonly string[]): void {
    const value = this.#plain(node);
    if (value === undefined || value === null) return;
    const whereOf = (inner: readonly PropertyKey[]): string => {
      // What is missing has no line: then it is the line of what it is missing in.
      for (let depth = inner.length; depth > 0; depth -= 1) {
        const at = this.#document.getIn([...path, ...inner.slice(0, depth)], true);
        if (isNode(at)) return this.#where(at);
      }
      return this.#where(node);
    };
    this.given.push({ name, value, where: whereOf([]), whereOf });
  }

  #plain(node: unknown): unknown {
    return isNode(node) ? node.toJS(this.#document) : undefined;
  }

  #where(node: unknown): string {
    const start = isNode(node) ? node.range?.[0] : undefined;
    return start === undefined ? this.#file : `${this.#file}:${this.#lines.linePos(start).line}`;
  }

  #problem(where: string, key: string, what: string, allowed: string): void {
    this.problems.push({ where, key, what, allowed });
  }
}

/** The names that may follow a path: `api` gives host, port, tls, keys, … */
function namesUnder(path: readonly string[]): string[] {
  const prefix = path.length === 0 ? '' : `${path.join('.')}.`;
  const names = CONFIG_NAMES.filter((name) => name.startsWith(prefix));
  return [...new Set(names.map((name) => name.slice(prefix.length).split('.')[0] ?? ''))];
}

function meant(path: readonly string[]): string {
  const above = path.slice(0, -1);
  const last = path.at(-1) ?? '';
  // The path above is the same for all of them, and must not make a far name near.
  const near = nearest(last, namesUnder(above));
  if (near !== undefined) return `; did you mean ${[...above, near].join('.')}?`;
  const elsewhere = CONFIG_NAMES.find((name) => name.endsWith(`.${last}`));
  return elsewhere === undefined ? '' : `; did you mean ${elsewhere}?`;
}
