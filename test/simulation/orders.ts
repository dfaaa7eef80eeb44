// Orders about tasks and approvals, by right and wrong persons, in time and late, once and again.
import { principalName, type Principal } from '../../src/kernel/principal.ts';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { Grant } from '../../src/core/budget/extend.ts';
import type { TaskRecord } from '../../src/core/task/record.ts';
import type { Engine, Ordered, Stopped, ApprovalAnswered } from '../../src/engine/engine.ts';
import type { Refusal } from '../../src/kernel/fault.ts';
import type { ApprovalId, ConversationId, TaskId } from '../../src/kernel/ids.ts';
import { HOUR, MINUTE } from '../../src/kernel/time.ts';
import type { Order, OrderKind } from './history.ts';
import type { Ledger } from './ledger.ts';
import { ADMIN, GUEST, PERSON, SECOND_ADMIN, someone } from './people.ts';
import type { Sender, SenderParts } from './sender.ts';

export type OrderName = 'resume' | 'pause' | 'extend' | 'approve' | 'deny' | 'confirm_clock';
export type Verdict = Ordered | Stopped | ApprovalAnswered | Refusal;

type Parts = SenderParts & { readonly ledger: Ledger };

/** What is sent, again and again, under one receipt. */
interface Given {
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
    const draw = random.next();
    if (isOff && draw < 0.3) return this.give('confirm_clock');
    if (hasOpen && draw < 0.75) return this.give(random.pick(['approve', 'approve', 'deny']));
    return this.give(random.pick(names));
  }

  async give(name: OrderName): Promise<void> {
    const { random, look } = this.#parts;
    if (name === 'confirm_clock') return this.#confirmClock();
    if (name === 'approve' || name === 'deny') {
      const all = look.approvals();
      const open = all.filter(({ state }) => state === 'open');
      const chosen = open.length > 0 && random.chance(0.9) ? open : all;
      if (chosen.length > 0) await this.#answer(random.pick(chosen), name);
      return;
    }
    const tasks = look.tasks();
    const fitting = tasks.filter((task) => FITS[name](task));
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

  async #orderTask(task: TaskRecord, name: 'resume' | 'pause' | 'extend'): Promise<void> {
    const { random } = this.#parts;
    const own = ownerOf(task);
    const principal =
      name === 'extend'
        ? random.pick([ADMIN, ADMIN, own, GUEST])
        : random.pick([own, own, ADMIN, GUEST]);
    const grant = name === 'extend' ? random.pick(GRANTS) : undefined;
    if (random.chance(0.4)) return this.#type(typed(name, task.id, grant), task, principal);
    const given = this.#given(name, task.id, { principal, grant });
    const verdict = await this.#insist(given);
    if (verdict.kind === 'ordered' && grant?.deadline !== undefined)
      this.#parts.reached('deadline_moved');
    await this.#again(given, verdict);
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
    { principal, grant }: { readonly principal: Principal; readonly grant?: Grant | undefined },
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
      answers: [],
      refusals: [],
    };
    this.#parts.history.orders.push(order);
    const about = { principal, channel: CHANNEL, receiptId };
    const taskId = subjectId as TaskId;
    const send = (engine: Engine): Promise<Verdict> => {
      switch (kind) {
        case 'stop':
          return engine.stopTask({ ...about, taskId });
        case 'resume':
          return engine.resumeTask({ ...about, taskId });
        case 'pause':
          return engine.pauseTask({ ...about, taskId });
        case 'extend':
          return engine.extendTask({
            ...about,
            taskId,
            grant: grant ?? {},
            fingerprint: JSON.stringify(grant),
          });
        case 'approve':
        case 'deny':
          return engine.answerApproval({
            ...about,
            approvalId: subjectId as ApprovalId,
            decision: kind,
          });
      }
    };
    return { order, send };
  }

  async #insist({ order, send }: Given): Promise<Verdict> {
    const label = `${order.kind} ${order.subjectId} by ${order.by}`;
    const verdict = await this.#sender.insist(label, send);
    if (verdict.kind === 'refused') order.refusals.push(verdict.code);
    else order.answers.push({ outcome: outcomeOf(verdict), repeated: verdict.repeated === true });
    if (verdict.kind === 'stopped') this.#parts.history.stops.push({ taskId: verdict.task.id });
    return verdict;
  }
}

function outcomeOf(verdict: Exclude<Verdict, Refusal>): string {
  if (verdict.kind === 'answered') {
    const { state, decidedBy, decidedAt } = verdict.approval;
    return `${state} by ${decidedBy} at ${decidedAt}`;
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

const FITS: Readonly<Record<'resume' | 'pause' | 'extend', (task: TaskRecord) => boolean>> = {
  resume: ({ state }) => state === 'blocked' || state === 'paused',
  pause: ({ state }) => state === 'active' || state === 'waiting',
  extend: () => true,
};

const GRANTS: readonly Grant[] = [
  { turns: 2 },
  { tokens: 500 },
  { costMicroUsd: 30 },
  { continuations: 1 },
  { turns: 3, tokens: 1_000, costMicroUsd: 100 },
  { deadline: { addMs: HOUR } },
];

/** The command of an order, as it is typed. */
function typed(name: 'resume' | 'pause' | 'extend', id: string, grant?: Grant): string {
  if (name === 'resume') return `/task-resume ${id}`;
  if (name === 'pause') return `/pause ${id}`;
  const { turns, tokens, costMicroUsd, continuations, deadline } = grant ?? {};
  const words = [
    turns === undefined ? '' : `turns=+${turns}`,
    tokens === undefined ? '' : `tokens=+${tokens}`,
    costMicroUsd === undefined ? '' : `cost=+${(costMicroUsd / 1_000_000).toFixed(6)}`,
    continuations === undefined ? '' : `continuations=+${continuations}`,
    deadline === undefined ? '' : 'deadline=+1h',
  ];
  return `/extend ${id} ${words.filter(Boolean).join(' ')}`;
}
