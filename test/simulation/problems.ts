/** Collects what does not hold, each as a sentence that begins with the rule that it breaks. */
export class Problems {
  readonly found: string[] = [];

  /** `say` is asked only where something does not hold. */
  unless(holds: boolean, say: () => string): void {
    if (!holds) this.found.push(say());
  }
}
