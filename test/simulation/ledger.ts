// What the tools really did, kept outside the harness: the truth about effects.

export interface Execution {
  readonly stepId: string;
  readonly tool: string;
  /** The call that the model made, unique over a run but for a model that repeats itself. */
  readonly call: string;
  /** The raw arguments, and every byte that ran. */
  readonly input: string;
  readonly bytes: string;
  readonly repeatable: boolean;
  readonly needsApproval: boolean;
  /** Whether it ran as approved, and an approval of this call stood as approved at that moment. */
  readonly approved: boolean;
  readonly host: string;
  /** Whether the journal knew the step when the effect began (E-1). */
  readonly journalled: boolean;
}

export class Ledger {
  readonly executions: Execution[] = [];
  /** How many calls its answers asked for: the last number given to one. */
  callsAsked = 0;
  /** How often the file of each tool was changed. */
  readonly versions = new Map<string, number>();
  /** Messages that were bound to a task before a turn took them up. */
  readonly bound = new Set<string>();
  /** Tools that run at this moment, by host. */
  readonly running = new Map<string, number>();

  enter(host: string): void {
    this.running.set(host, (this.running.get(host) ?? 0) + 1);
  }

  leave(host: string): void {
    this.running.set(host, (this.running.get(host) ?? 0) - 1);
  }

  /** The bytes of a tool change: what was shown before is no longer what would run. */
  edit(tool: string): void {
    this.versions.set(tool, (this.versions.get(tool) ?? 0) + 1);
  }
}
