// The contract that every store passes. It is published: whoever writes a store runs it.
import { describe, test } from 'node:test';
import type { Case, Opened } from './store-case.ts';
import { APPROVAL_CASES } from './store-contract-approval.ts';
import { BOUNDARY_CASES } from './store-contract-boundary.ts';
import { BUDGET_CASES } from './store-contract-budget.ts';
import { DISPATCH_CASES } from './store-contract-dispatch.ts';
import { INBOX_CASES } from './store-contract-inbox.ts';
import { MAINTENANCE_CASES } from './store-contract-maintenance.ts';
import { OPERATION_CASES } from './store-contract-operation.ts';
import { OUTBOX_CASES } from './store-contract-outbox.ts';
import { RECOVERY_CASES } from './store-contract-recovery.ts';
import { SESSION_CASES } from './store-contract-session.ts';
import { TASK_CASES } from './store-contract-task.ts';
import { TURN_CASES } from './store-contract-turn.ts';
import { UNIT_CASES } from './store-contract-unit.ts';

export interface StoreContract {
  readonly name: string;
  open(): Opened | Promise<Opened>;
  /** Cases that do not apply, by title, each with its reason. */
  readonly excused?: Readonly<Record<string, string>>;
}

/** Declares the tests of the contract for one store. */
export function storeContract(contract: StoreContract): void {
  const cases: readonly Case[] = [
    ...UNIT_CASES,
    ...SESSION_CASES,
    ...INBOX_CASES,
    ...TASK_CASES,
    ...TURN_CASES,
    ...OUTBOX_CASES,
    ...APPROVAL_CASES,
    ...BUDGET_CASES,
    ...RECOVERY_CASES,
    ...BOUNDARY_CASES,
    ...DISPATCH_CASES,
    ...OPERATION_CASES,
    ...MAINTENANCE_CASES,
  ];
  describe(`the store contract: ${contract.name}`, () => {
    for (const [title, run] of cases) {
      const skip = contract.excused?.[title] ?? false;
      test(title, { skip }, async () => {
        const opened = await contract.open();
        try {
          await run(opened);
        } finally {
          await opened.store.close();
          await opened.dispose?.();
        }
      });
    }
  });
}
