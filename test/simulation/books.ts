// Whoever keeps account of the calls that leave the hosts of a run, in one hand.
import type { Millis } from '../../src/kernel/time.ts';
import { AssessmentBook } from './assessment-book.ts';
import { CallBook } from './call-book.ts';
import type { Look } from './look.ts';
import { OperationBook } from './operation-book.ts';
import type { SimulationOptions } from './options.ts';
import { RequestWatch } from './request-watch.ts';
import type { Sometime } from './sometimes.ts';

export interface BooksParts {
  readonly options: SimulationOptions;
  readonly look: Look;
  readonly elapsed: () => Millis;
  readonly wall: () => number;
  readonly isAlive: (host: string) => boolean;
  /** Which turn of a conversation a host claimed last. */
  readonly ownTurn: (host: string, conversationId: string) => string | undefined;
  readonly problem: (text: string) => void;
  readonly reached: (name: Sometime) => void;
}

export class Books {
  readonly calls: CallBook;
  readonly assessing: AssessmentBook;
  readonly operations: OperationBook;
  readonly requests: RequestWatch;

  constructor(parts: BooksParts) {
    const { faults, shared, upkeep } = parts.options;
    const isSteady = faults.clockSteps + faults.clockLeaps === 0;
    const { native } = upkeep;
    this.assessing = new AssessmentBook(parts);
    this.operations = new OperationBook({ ...parts, native, isAlone: !shared });
    this.requests = new RequestWatch(parts);
    this.calls = new CallBook({ ...parts, isAlone: !shared && isSteady });
  }
}
