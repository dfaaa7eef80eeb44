/** Lets go of something that was opened. */
export type Closer = () => Promise<void> | void;

/**
 * Runs every closer, the last opened first, and empties the list. One that fails keeps no other from its turn;
 * the first such error is thrown once all have run.
 */
export async function closeAll(opened: Closer[]): Promise<void> {
  const errors: unknown[] = [];
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
