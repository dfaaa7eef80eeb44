// What the format had in its earlier versions: their files are read for good.
import type { JsonObject } from '../../kernel/json.ts';
import type { ArchiveKind, ArchiveRecords } from './record.ts';

/** What a version of the format brought to a kind, and what a record of a version before it holds there. */
interface Brought {
  readonly version: number;
  /** Undefined: the kind itself. */
  readonly fields?: JsonObject;
}

/** Records of a version that knew no maintenance have had none (M-15). */
const BROUGHT: { readonly [K in ArchiveKind]?: Brought } = {
  conversation: {
    version: 2,
    fields: { fence: 'none', operationId: null } satisfies Partial<ArchiveRecords['conversation']>,
  },
  session: {
    version: 2,
    fields: {
      previousId: null,
      nextId: null,
      cutSeq: 0,
      compactions: 0,
      seed: null,
    } satisfies Partial<ArchiveRecords['session']>,
  },
  operation: { version: 2 },
};

/** Whether files of this version have records of the kind. */
export function hasKind(version: number, kind: ArchiveKind): boolean {
  const brought = BROUGHT[kind];
  return brought === undefined || brought.fields !== undefined || brought.version <= version;
}

/** The fields that records of the kind have not yet in a file of this version, with what stands there. */
export function laterFields(version: number, kind: ArchiveKind): JsonObject {
  const brought = BROUGHT[kind];
  return brought === undefined || brought.version <= version ? {} : (brought.fields ?? {});
}
