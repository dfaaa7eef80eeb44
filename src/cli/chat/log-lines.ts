import { isObject, parseJson } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** Log lines that belong on the screen of a chat, for as long as there is one. */
export class LogLines {
  #show: ((text: string) => void) | undefined;
  #last = '';

  /** Shows a line of the log, the same one again only once; false when no chat is there to show it. */
  readonly show = (line: string): boolean => {
    if (this.#show === undefined) return false;
    const text = sayLogLine(line);
    if (text !== this.#last) this.#show(text);
    this.#last = text;
    return true;
  };

  /** From now on lines go to `show`; until the returned function is called. */
  showIn(show: (text: string) => void): () => void {
    this.#show = show;
    return () => {
      this.#show = undefined;
    };
  }
}

/** A line of the log as a person reads it, without ids: `warn: a model call failed (code http_503)`. */
function sayLogLine(line: string): string {
  const parsed = parseJson(line, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return line.trimEnd();
  const { level, msg, time: _time, ...fields } = parsed.value;
  const more = Object.entries(fields)
    .filter(([name]) => !name.endsWith('Id'))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const said = [level, msg].filter((word) => typeof word === 'string').join(': ');
  return `${said}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}
