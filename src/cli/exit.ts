/** Exit codes, the same for every command (surface: command line). */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  not_found: 4,
  unreachable: 5,
  store: 6,
} as const;
export type ExitName = keyof typeof EXIT;

/** Ends the command: the lines go to stderr, the code to whoever called. */
export class CommandEnd extends Error {
  override readonly name = 'CommandEnd';
  readonly exit: ExitName;
  constructor(exit: ExitName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}
