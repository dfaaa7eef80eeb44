import type { Instant } from '../../kernel/time.ts';
import type { EngineParts, Health } from '../engine.ts';

/** What is examined: an engine that runs, or the records of a stopped one. */
export interface Patient {
  readonly parts: EngineParts;
  readonly health: Health;
  /** Hosts whose row was alive until then at most are dead; 0 where nobody can tell. */
  readonly deadBefore: Instant;
  /** Of a stopped host: who has its records all the same. */
  readonly holder?: { readonly pid: number; readonly startedAt: Instant };
  /** Of a stopped host: why its models could not be made. */
  readonly modelsFault?: string;
}
