import { printable, printableJson } from '../kernel/printable.ts';

/** Everything that commands say goes through here, so that nobody's words can steer the terminal. */
export function printText(text: string): void {
  console.log(printable(text));
}

/** As `printText`, on stderr. */
export function printError(text: string): void {
  console.error(printable(text));
}

/** The one JSON document of a command with `--json`. */
export function printJson(value: unknown): void {
  console.log(printableJson(JSON.stringify(value, null, 2)));
}
