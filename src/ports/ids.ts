import type { Id, IdKind } from '../kernel/ids.ts';

/** Makes ids that sort by creation within a process. */
export interface Ids {
  next<K extends IdKind>(kind: K): Id<K>;
}
