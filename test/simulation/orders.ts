// Orders about tasks and approvals, by right and wrong persons, in time and late, once and again.
import { principalName, type Principal } from '../../src/kernel/principal.ts';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { Grant } from '../../src/core/budget/extend.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Refusal } from '../../src/kernel/fault.ts';
import type { ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import type { Admission, Order, OrderKind } from './history.ts';
import type { Ledger } from './ledger.ts';
import {
  FITS,
  isSilent,
  isTaskOrder,
  sendOf,
  typed,
  type TaskOrderName,
  type Verdict,
} from './order-forms.ts';
import { ADMIN, GUEST, PERSON, SECOND_ADMIN, someone } from './people.ts';
import type { Sender, SenderParts } from './sender.ts';

export type OrderName =
  | TaskOrderName
  | 'worker'
  | 'approve'
  | 'deny'
  | 'confirm_clock'
  | 'end_safe_mode'
  | 'repair';

type Parts = SenderParts & { readonly ledger: Ledger };

/** What is sent, again and again, under one receipt. */
export interface Given {
  readonly order: Order;
  readonly send: (engine: Engine) => Promise<Verdict>;
}

/** Where commands are typed. */
interface Rooms {
  readonly conversations: () => readonly ConversationId[];
  readonly type: (
    text: string,
    conversationId: ConversationId,
    principal: Principal,
  ) => Promise<void>;
}

const CHANNEL = 'api';

export class Orders {
  readonly #parts: Parts;
  readonly #sender: Sender;
  readonly #rooms: Rooms;
  #receipts = 0;
  #admins = 0;

  constructor(parts: Parts, sender: Sender, rooms: Rooms) {
    this.#parts = parts;
    this.#sender = sender;
    this.#rooms = rooms;
  }

  async giveAny(): Promise<void> {
    const { random, look } = this.#parts;
    const hasOpen = look.approvals().some(({ state }) => state === 'open');
    const isOff = this.#parts.weather.faults.clockLeaps > 0;
    const names = ['resume', 'pause', 'extend', 'extend', 'confirm_clock'] as const;
    const recovering = this.#recovering();
    if (recovering.length > 0 && random.chance(0.7)) return this.give(random.pick(recovering));
    const draw = random.next();
    if (isOff && draw < 0.3) return this.give('confirm_clock');
    if (hasOpen && draw < 0.75) return this.give(random.pick(['approve', 'approve', 'deny']));
    return this.give(random.pick(names));
  }

  /** Orders that have something to be about after a restart. */
  #recovering(): readonly OrderName[] {
    const { look } = this.#parts;
    const tasks = look.tasks();
    const has = (name: TaskOrderName): boolean => tasks.some((task) => FITS[name](task));
    const names: OrderName[] = [];
    if (tasks.some(({ enrollment }) => enrollment === 'held-legacy'))
      names.push('resume', 'resume');
    if (tasks.some(isSilent)) names.push('repair', 'reset');
    if (has('reset')) names.push('reset');
    if (has('late')) names.push('late');
    if (look.heldWorkers().length > 0) names.push('worker', 'worker');
    if (look.isInSafeMode()) names.push('end_safe_mode');
    return names;
  }

  async give(name: OrderName): Promise<void> {
    if (isTaskOrder(name)) return this.#orderAny(name);
    switch (name) {
      case 'confirm_clock':
        return this.#confirmClock();
      case 'end_safe_mode':
      case 'repair':
        return this.hostOrder(name, someone(this.#parts.random));
      case 'worker':
        return this.#wakeWorker();
      case 'approve':
      case 'deny':
        return this.#answerAny(name);
    }
  }

  async #answerAny(name: 'approve' | 'deny'): Promise<void> {
    const { random, look } = this.#parts;
    const all = look.approvals();
    const open = all.filter(({ state }) => state === 'open');
    const chosen = open.length > 0 && random.chance(0.9) ? open : all;
    if (chosen.length > 0) await this.#answer(random.pick(chosen), name);
  }

  async #orderAny(name: TaskOrderName): Promise<void> {
    const { random, look } = this.#parts;
    const tasks = look.tasks();
    const held = tasks.filter(({ enrollment }) => enrollment === 'held-legacy');
    const wakes = name === 'resume' && held.length > 0 && random.chance(0.6);
    const fitting = wakes ? held : tasks.filter((task) => FITS[name](task));
    const chosen = fitting.length > 0 && random.chance(0.8) ? fitting : tasks;
    if (chosen.length > 0) await this.#orderTask(random.pick(chosen), name);
  }

  /** Carries out exactly this; answers what became of it. */
  async exactly(
    kind: OrderKind,
    subject: { readonly id: string },
    by: { readonly principal: Principal; readonly grant?: Grant | undefined },
  ): Promise<Verdict> {
    return this.#insist(this.#given(kind, subject.id, by));
  }

  async stopAny(): Promise<void> {
    const { random, look } = this.#parts;
    const open = look.openTasks();
    if (open.length === 0) return;
    await this.stopTask(random.pick(open), random.pick([PERSON, this.#someAdmin()]));
  }

  async stopTask(taskId: TaskId, principal: Principal): Promise<void> {
    const { history } = this.#parts;
    history.exactStops.add(`${taskId} ${principalName(principal)}`);
    let tries = 0;
    const verdict = await this.#sender.insist(`stop ${taskId}`, (engine) => {
      tries += 1;
      return engine.stopTask({ taskId, principal, channel: CHANNEL });
    });
    if (verdict.kind === 'stopped') history.stops.push({ taskId });
    else if (tries === 1 && principal.id.startsWith('console')) {
      history.refusedStops.push({ taskId, by: principalName(principal), code: verdict.code });
    }
  }

  /** An admin who gives one order only, so that what became of it can be told. */
  #someAdmin(): Principal {
    this.#admins += 1;
    return { kind: 'admin', id: `console${this.#admins}`, isAdmin: true };
  }

  async #confirmClock(): Promise<void> {
    const principal = someone(this.#parts.random);
    const verdict = await this.#sender.insist('confirm the clock', (engine) =>
      engine.confirmClock({ principal, channel: CHANNEL }),
    );
    if (verdict.kind === 'confirmed') this.#parts.reached('clock_confirmed');
  }

  /** An order about the host itself, which admins alone may give. */
  async hostOrder(name: 'end_safe_mode' | 'repair', principal: Principal): Promise<void> {
    const about = { principal, channel: CHANNEL };
    const verdict = await this.#sender.insist<{ readonly kind: string }>(name, (engine) =>
      name === 'repair' ? engine.repair(about) : engine.endSafeMode(about),
    );
    if (verdict.kind === 'refused') return;
    if (!principal.isAdmin)
      this.#parts.broken(new Error(`X-10 ${name} was carried out for ${principal.id}`));
    this.#parts.reached(name === 'repair' ? 'doctor_repaired' : 'safe_mode_ended');
  }

  /** B-9: an exact resume of one worker. */
  async #wakeWorker(): Promise<void> {
    const { random, look, reached } = this.#parts;
    const all = look.heldWorkers();
    const able = all.filter(({ taskId }) => look.task(taskId ?? '')?.enrollment === 'current');
    const held = able.length > 0 && random.chance(0.8) ? able : all;
    if (held.length === 0) return;
    const principal = random.pick([ADMIN, ADMIN, PERSON]);
    const given = this.#given('worker', random.pick(held).id, { principal });
    const verdict = await this.#insist(given);
    if (verdict.kind === 'refused') reached('worker_refused');
    else if (!principal.isAdmin)
      this.#parts.broken(new Error(`B-9 a worker was enrolled by ${principal.id}`));
    await this.#again(given, verdict);
  }

  async #orderTask(task: TaskRecord, name: TaskOrderName): Promise<void> {
    const { random } = this.#parts;
    const principal = this.#giverOf(task, name);
    const grant = name === 'extend' ? random.pick(GRANTS) : undefined;
    if (random.chance(0.4)) return this.#type(typed(name, task.id, grant), task, principal);
    const given = this.#given(name, task.id, { principal, grant });
    const verdict = await this.#insist(given);
    this.#noteOrder(given, verdict);
    await this.#again(given, verdict);
  }

  /** Mostly who may give it. */
  #giverOf(task: TaskRecord, name: TaskOrderName): Principal {
    const { random } = this.#parts;
    const own = ownerOf(task);
    const isAdmins = name === 'extend' || name === 'reset' || task.enrollment === 'held-legacy';
    return random.pick(isAdmins ? [ADMIN, ADMIN, own, GUEST] : [own, own, ADMIN, GUEST]);
  }

  #noteOrder({ order: { grant } }: Given, { kind: came }: Verdict): void {
    const { reached } = this.#parts;
    if (came === 'ordered' && grant?.deadline !== undefined) reached('deadline_moved');
  }

  /** Admits an operation, and perhaps again under the same receipt (M-7). */
  async admit(
    operationId: string,
    admission: Admission,
    principal: Principal,
  ): Promise<{ readonly verdict: Verdict; readonly again: () => Promise<Verdict> }> {
    const given = this.#given('admit', operationId, { principal, admission });
    const verdict = await this.#insist(given);
    return { verdict, again: () => this.#insist(given) };
  }

  async #answer(approval: ApprovalRecord, decision: 'approve' | 'deny'): Promise<void> {
    const { random, ledger, weather, reached, look } = this.#parts;
    const task = look.task(approval.taskId);
    if (task === undefined) return;
    if (random.chance(weather.faults.edits)) ledger.edit(approval.tool);
    const own = ownerOf(task);
    const right = approval.approver === 'other' && own === ADMIN ? SECOND_ADMIN : ADMIN;
    const principal = random.pick([own, right, right, GUEST]);
    if (random.chance(0.4)) return this.#type(`/${decision} ${approval.id}`, task, principal);
    const given = this.#given(decision, approval.id, { principal });
    const verdict = await this.#insist(given);
    if (verdict.kind === 'refused') reached('answer_refused');
    await this.#again(given, verdict);
    // Another order about the same approval, whatever the first came to.
    if (!random.chance(0.5)) return;
    const second = await this.#insist(
      this.#given(random.pick(['approve', 'deny']), approval.id, { principal: right }),
    );
    if (second.kind === 'refused' && second.code === 'approval_closed') reached('approval_closed');
  }

  /** A receipt that comes again, or for something else (M-7). */
  async #again(given: Given, first: Verdict): Promise<void> {
    const { random, reached, look } = this.#parts;
    if (random.chance(0.3)) {
      await this.#sender.pause('order again', random.below(5 * MINUTE));
      const verdict = await this.#insist(given);
      if (verdict.kind !== 'refused' && verdict.repeated === true) reached('receipt_repeated');
    }
    if (first.kind === 'refused' || !random.chance(0.3)) return;
    const [task] = look.tasks();
    if (task === undefined || task.id === given.order.subjectId) return;
    const taskId = task.id;
    const { receipt: receiptId, isAdmin, by } = given.order;
    const principal = { ...nameToPrincipal(by), isAdmin };
    const misused = await this.#sender.insist(`misuse ${receiptId}`, (engine) =>
      engine.pauseTask({ taskId, principal, channel: CHANNEL, receiptId }),
    );
    const isRefused = misused.kind === 'refused' && misused.code === 'receipt_used';
    if (isRefused) reached('receipt_used');
    else this.#parts.broken(new Error(`M-7 the receipt ${receiptId} was used twice`));
  }

  async #type(text: string, task: TaskRecord, principal: Principal): Promise<void> {
    const { random } = this.#parts;
    const elsewhere = random.pick(this.#rooms.conversations());
    const conversationId = random.chance(0.85) ? task.conversationId : elsewhere;
    await this.#rooms.type(text, conversationId, principal);
  }

  #given(
    kind: OrderKind,
    subjectId: string,
    {
      principal,
      grant,
      admission,
    }: {
      readonly principal: Principal;
      readonly grant?: Grant | undefined;
      readonly admission?: Admission;
    },
  ): Given {
    this.#receipts += 1;
    const receiptId = `order ${this.#receipts}`;
    const order: Order = {
      kind,
      subjectId,
      by: principalName(principal),
      isAdmin: principal.isAdmin,
      receipt: receiptId,
      grant: grant ?? null,
      ...(admission === undefined ? {} : { admission }),
      answers: [],
      refusals: [],
    };
    this.#parts.history.orders.push(order);
    const about = { principal, channel: CHANNEL, receiptId };
    const send = sendOf(order, about);
    if (kind === 'stop')
      this.#parts.history.exactStops.add(`${subjectId} ${principalName(principal)}`);
    return { order, send };
  }

  async #insist({ order, send }: Given): Promise<Verdict> {
    const label = `${order.kind} ${order.subjectId} by ${order.by}`;
    const verdict = await this.#sender.insist(label, send, order.kind === 'admit');
    if (verdict.kind === 'refused') this.#noteRefusal(order, verdict.code);
    else order.answers.push({ outcome: outcomeOf(verdict), repeated: verdict.repeated === true });
    if (verdict.kind === 'stopped') this.#parts.history.stops.push({ taskId: verdict.task.id });
    return verdict;
  }

  #noteRefusal({ kind, subjectId, refusals }: Order, code: string): void {
    const { look, reached } = this.#parts;
    refusals.push(code);
    const isHeld = look.task(subjectId)?.enrollment === 'held-legacy';
    if (isHeld && kind === 'resume') reached('enrol_refused');
  }
}

function outcomeOf(verdict: Exclude<Verdict, Refusal>): string {
  if (verdict.kind === 'answered') {
    const { state, decidedBy, decidedAt } = verdict.approval;
    return `${state} by ${decidedBy} at ${decidedAt}`;
  }
  if ('execution' in verdict) {
    const { id, state, version } = verdict.execution;
    return `${id} ${state} ${version}`;
  }
  if ('operation' in verdict) {
    const { id, state, version, epoch } = verdict.operation;
    return `${id} ${state} ${version} ${epoch}`;
  }
  const { state, version, deadline, turnsLimit, tokensLimit, costLimit } = verdict.task;
  return [state, version, deadline, turnsLimit, tokensLimit, costLimit].join(' ');
}

function ownerOf({ mandatePrincipal }: TaskRecord): Principal {
  return nameToPrincipal(mandatePrincipal);
}

export function nameToPrincipal(name: string): Principal {
  const found = [PERSON, GUEST, ADMIN].find((one) => principalName(one) === name);
  const [, id = name] = name.split(':');
  return found ?? { kind: 'admin', id, isAdmin: name.startsWith('admin:') };
}

const GRANTS: readonly Grant[] = [
  { turns: 2 },
  { tokens: 500 },
  { costMicroUsd: 30 },
  { continuations: 1 },
  { turns: 3, tokens: 1_000, costMicroUsd: 100 },
  { deadline: { addMs: HOUR } },
];
