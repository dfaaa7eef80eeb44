/** Something that no record may be. */
export interface Rule<R> {
  readonly broken: (record: R) => boolean;
  /** One sentence. */
  readonly says: string;
}
