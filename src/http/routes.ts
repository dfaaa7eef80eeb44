import { APPROVAL_ROUTES } from './approvals.ts';
import type { Route } from './call.ts';
import { CONVERSATION_ROUTES } from './conversations.ts';
import { DOCTOR_ROUTES } from './doctor.ts';
import { EXPORT_ROUTES } from './export.ts';
import { MAINTENANCE_ROUTES } from './maintenance.ts';
import { MESSAGE_ROUTES } from './messages.ts';
import { OUTBOX_ROUTES } from './outbox.ts';
import { RUN_ROUTES } from './runs.ts';
import { SESSION_ROUTES } from './sessions.ts';
import { STATUS_ROUTES } from './status.ts';
import { TASK_ROUTES } from './tasks.ts';
import { USAGE_ROUTES } from './usage.ts';
import { WORKER_ROUTES } from './workers.ts';

/** Every route of this door. The router, the OpenAPI document and the tests' sweeps read it. */
export const ROUTES: readonly Route[] = [
  ...RUN_ROUTES,
  ...CONVERSATION_ROUTES,
  ...SESSION_ROUTES,
  ...MESSAGE_ROUTES,
  ...TASK_ROUTES,
  ...MAINTENANCE_ROUTES,
  ...WORKER_ROUTES,
  ...APPROVAL_ROUTES,
  ...OUTBOX_ROUTES,
  ...USAGE_ROUTES,
  ...STATUS_ROUTES,
  ...EXPORT_ROUTES,
  ...DOCTOR_ROUTES,
];
