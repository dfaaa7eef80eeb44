/** A path of the state directory that is open to others; `mode` and `wanted` are permission bits. */
export interface LooseFile {
  readonly path: string;
  readonly mode: number;
  readonly wanted: number;
}

/** How the machine around the records is. Sizes in bytes; null where it cannot be told. */
export interface PremisesReport {
  readonly folder: string;
  /** How many paths of the state directory were looked at. */
  readonly files: number;
  readonly loose: readonly LooseFile[];
  readonly freeBytes: number | null;
  /** Of an embedded store: its file and its log; null of one elsewhere. */
  readonly storeBytes: number | null;
  readonly logBytes: number | null;
  /** What the host wrote about itself. */
  readonly logsBytes: number;
  /** Of the product, of Node and of the zone data. */
  readonly version: string;
  readonly node: string;
  readonly tz: string;
}

/** The machine around the records: its disk and the files of the state directory. */
export interface Premises {
  examine(): Promise<PremisesReport>;
  /** Closes to others what is open to them, and gives those paths. */
  mend(): Promise<readonly string[]>;
}
