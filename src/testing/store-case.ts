import type { Store } from '../ports/store.ts';
import type { Inspectable } from './store-dump.ts';

export type TestedStore = Store & Inspectable;

/** An empty store for one test. */
export interface Opened {
  readonly store: TestedStore;
  /** Opens the same data anew: beside the first where the store is shared, else once it is closed. */
  readonly again?: () => TestedStore | Promise<TestedStore>;
  /** Removes the data; the suite has closed what it opened. */
  readonly dispose?: () => void | Promise<void>;
}

/** One case: its title is a sentence about the store. */
export type Case = readonly [title: string, run: (opened: Opened) => Promise<void>];
