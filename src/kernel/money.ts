/** A US dollar in the unit of records: whole millionths, so that sums are exact. */
export const USD = 1_000_000;
