/** The one JSON document of a command with `--json`. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

export function printText(text: string): void {
  console.log(text);
}
