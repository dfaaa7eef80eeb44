import { isObject, parseJson, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { when } from '../when.ts';

/** Log lines that belong on the screen of a chat: from before it is there until it is gone. */
export class LogLines {
  readonly #outside: ((text: string) => void) | undefined;
  #show: ((text: string) => void) | undefined;
  /** What came before the chat. */
  #kept: string[] = [];
  #isKeeping: boolean;
  #last = '';

  /** `outside` has what no chat can show: a chat is to open, and nothing raw is to stand above it. */
  constructor(outside?: (text: string) => void) {
    this.#outside = outside;
    this.#isKeeping = outside !== undefined;
  }

  /** Shows a line of the log, the same one again only once; false when it is nobody's here. */
  readonly show = (line: string): boolean => {
    const show = this.#isKeeping ? (text: string) => void this.#kept.push(text) : this.#screen;
    if (show === undefined) return false;
    const text = sayLogLine(line);
    if (text !== this.#last) show(text);
    this.#last = text;
    return true;
  };

  get #screen(): ((text: string) => void) | undefined {
    return this.#show ?? this.#outside;
  }

  /** From now on lines go to `show`, those that were kept first; until the returned function is called. */
  showIn(show: (text: string) => void): () => void {
    this.#show = show;
    this.release();
    return () => {
      this.#show = undefined;
    };
  }

  /** No chat will open, or it is there: what was kept is shown. */
  release(): void {
    this.#isKeeping = false;
    for (const text of this.#kept.splice(0)) this.#screen?.(text);
  }
}

/** As ids and instants stand in fields. */
const ID = /^[a-z]+_[0-9A-Z]{16}$/;
const INSTANT_FIELD = /^(?:at|until)$|At$/;
/** No count and no length of time is as large. */
const INSTANT_MIN = 1e12;

/** A line of the log as a person reads it, without ids: `warn: a model call failed (code http_503)`. */
function sayLogLine(line: string): string {
  const parsed = parseJson(line, LIMITS.jsonDepthMax);
  if (!parsed.ok || !isObject(parsed.value)) return line.trimEnd();
  const { level, msg, time: _time, ...fields } = parsed.value;
  const more = Object.entries(fields)
    .filter(
      ([name, value]) => !name.endsWith('Id') && !(typeof value === 'string' && ID.test(value)),
    )
    .map(([name, value]) => `${name} ${fieldText(name, value)}`);
  const said = [level, msg].filter((word) => typeof word === 'string').join(': ');
  return `${said}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

function fieldText(name: string, value: Json): string {
  if (typeof value === 'string') return value;
  const isInstant = typeof value === 'number' && value >= INSTANT_MIN && INSTANT_FIELD.test(name);
  return isInstant ? when(new Date(value).toISOString()) : JSON.stringify(value);
}
