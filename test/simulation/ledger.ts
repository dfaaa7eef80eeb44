// What the tools really did, kept outside the harness: the truth about effects.

export interface Execution {
  readonly stepId: string;
  readonly tool: string;
  /** The call that the model made, unique over a run. */
  readonly call: string;
  readonly repeatable: boolean;
  readonly host: string;
  /** Whether the journal knew the step when the effect began (E-1). */
  readonly journalled: boolean;
}

export class Ledger {
  readonly executions: Execution[] = [];
  /** How often the model was asked. */
  modelCalls = 0;
  /** How many tool calls its answers asked for: the last number given to one. */
  callsAsked = 0;
  /** Tools that run at this moment, by host. */
  readonly running = new Map<string, number>();

  enter(host: string): void {
    this.running.set(host, (this.running.get(host) ?? 0) + 1);
  }

  leave(host: string): void {
    this.running.set(host, (this.running.get(host) ?? 0) - 1);
  }
}
