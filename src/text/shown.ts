import { isObject, parseJson, type Json, type JsonObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Catalogue } from './catalogue.ts';

/** Sets what would run apart from what the host says, on a phone as in a terminal. */
const INDENT = '    ';
/** In front of each line of the arguments: none of theirs can pose as a line about them. */
const BAR = `${INDENT}│ `;

/** An argument that a shell would take as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** What a shell reads in double quotation marks as something else. */
const SPECIAL = /["\\$`]/;

/** What does not show as what it is: controls, marks that turn a line around, blanks that are none. */
const HIDDEN = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
/** The same for a text inside a sentence: it may neither break the line nor end its quotation. */
const HIDDEN_INLINE = /\p{C}|[\p{Zl}\p{Zp}`“”„‟«»]|(?! )\p{Zs}/u;

/**
 * Everything that would run, whole (E-4): the arguments as a shell writes them, then the folder, the
 * names of the environment and the files, each on a line of its own. `shown` is the JSON text of an
 * approval; of another form it is given as it is. What does not show as what it is, is written as
 * `\u{…}`, between double quotation marks.
 */
export function blockShown({ shown: texts }: Catalogue, shown: string): string {
  const call = readCall(shown);
  const command = call === undefined ? escape(shown, HIDDEN) : argumentsOf(call, HIDDEN);
  return [
    ...(command === '' ? [] : command.split('\n').map((line) => `${BAR}${line}`)),
    ...(call === undefined ? [] : aboutCall(texts, call).map((line) => `${INDENT}${line}`)),
  ].join('\n');
}

/** The same on one line, inside a sentence. */
export function inlineShown({ shown: texts }: Catalogue, shown: string): string {
  const call = readCall(shown);
  if (call === undefined) return escape(shown, HIDDEN_INLINE);
  const command = argumentsOf(call, HIDDEN_INLINE);
  return [...(command === '' ? [] : [command]), ...aboutCall(texts, call)].join(', ');
}

function readCall(shown: string): JsonObject | undefined {
  const parsed = parseJson(shown, LIMITS.jsonDepthMax);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
}

function argumentsOf({ argv }: JsonObject, hidden: RegExp): string {
  return isList(argv) ? argv.map((argument) => quote(textOf(argument), hidden)).join(' ') : '';
}

function aboutCall(
  texts: Catalogue['shown'],
  { folder, env, files }: JsonObject,
): readonly string[] {
  const say = (text: Json | undefined): string => quote(textOf(text), HIDDEN_INLINE);
  const names = isObject(env) ? Object.keys(env) : [];
  return [
    ...(folder === undefined ? [] : [texts.folder(say(folder))]),
    ...(names.length === 0 ? [] : [texts.environment(names.map(say).join(', '))]),
    ...(isList(files) ? files : [])
      .filter(isObject)
      .map(({ path, hash }) => (hash === null ? texts.missingFile : texts.file)(say(path))),
  ];
}

/** An argument as a shell reads it back; with hidden characters, so that they are seen. */
function quote(text: string, hidden: RegExp): string {
  if (PLAIN.test(text)) return text;
  if (hidden.test(text)) return `"${escape(text.replaceAll(/["\\]/g, String.raw`\$&`), hidden)}"`;
  if (text.includes("'") && !SPECIAL.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function escape(text: string, hidden: RegExp): string {
  return text.replaceAll(new RegExp(hidden, 'gu'), (found) => {
    if (found === '\n') return String.raw`\n`;
    return String.raw`\u{${(found.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
  });
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}
