import type { Readable } from 'node:stream';

/** Processes and threads of one command; a large build has some hundreds. */
export const PROCESSES_MAX = 1_024;

export interface End {
  /** Undefined when the sandbox itself failed and nothing ran in it. */
  readonly exitCode: number | undefined;
  readonly wasTooMany: boolean;
}

/** One program that was started, with everything that it starts. */
export interface Started {
  readonly output: readonly Readable[];
  /** Resolves when everything has ended that ran in it. Never rejects. */
  ended(): Promise<End>;
  /** Asks everything in it to end, and ends after the grace what did not. */
  end(): void;
}
