/** Colours for people at a terminal, and nothing for pipes or whoever set NO_COLOR. */
export interface Paint {
  dim(text: string): string;
  bold(text: string): string;
}

export function paintFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const isPlain = stream.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const wrap = (open: number, close: number) => (text: string) =>
    isPlain ? text : `\u001B[${open}m${text}\u001B[${close}m`;
  return { dim: wrap(2, 22), bold: wrap(1, 22) };
}
