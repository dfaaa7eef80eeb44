import type { ApprovalAnswerBody, ApprovalAnsweredReply, ApprovalReply } from '../wire/approval.ts';
import type {
  ConversationCreateBody,
  ConversationReply,
  MessageCreateBody,
  MessageCreatedReply,
  MessageReply,
  TranscriptItem,
} from '../wire/conversation.ts';
import type { DoctorReply, RepairReply } from '../wire/doctor.ts';
import type { AdmitBody, OperationReply, SessionReply } from '../wire/maintenance.ts';
import type { ProblemReply } from '../wire/problem.ts';
import type { RunCreateBody, RunCreatedReply, RunReply } from '../wire/run.ts';
import type { Page } from '../wire/shape.ts';
import type {
  AttentionReply,
  ClockReply,
  HealthReply,
  OutboxReply,
  SafeModeReply,
  StatusReply,
} from '../wire/status.ts';
import type { StreamEvent } from '../wire/stream.ts';
import type {
  TaskEventItem,
  TaskExtendBody,
  TaskOrderBody,
  TaskReply,
  TaskResumeBody,
  TaskStoppedReply,
  WhyReply,
} from '../wire/task.ts';
import type { UsageReply } from '../wire/usage.ts';
import type { WorkerOrderBody, WorkerReply } from '../wire/worker.ts';
import { followStream, type StreamOptions } from './stream.ts';

export interface ClientParts {
  /** Of the host, without a path: `http://127.0.0.1:7420`. */
  readonly url: string;
  readonly key: string;
  readonly fetch?: typeof globalThis.fetch;
}

export interface PageQuery {
  readonly cursor?: string;
  readonly limit?: number;
}
export interface TaskQuery extends PageQuery {
  readonly state?: TaskReply['state'];
  readonly enrollment?: TaskReply['enrollment'];
  readonly conversation?: string;
}
export interface OutboxQuery extends PageQuery {
  readonly state?: OutboxReply['state'];
  readonly conversation?: string;
}
export interface ApprovalQuery extends PageQuery {
  readonly state?: ApprovalReply['state'];
  readonly conversation?: string;
}
export interface OperationQuery extends PageQuery {
  /** `open`: running, waiting or blocked. */
  readonly state?: OperationReply['state'] | 'open';
  readonly conversation?: string;
}
export interface TranscriptQuery extends PageQuery {
  readonly session?: string;
}
export interface WorkerQuery extends PageQuery {
  readonly state?: WorkerReply['state'];
  readonly enrollment?: WorkerReply['enrollment'];
}
export interface Once {
  /** Makes the call safe to repeat for a day. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** An answer that is not the wanted one, with the stable code of the problem. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: ProblemReply['errors'];
  /** Of `receipt_used`: what the order came to when it was given first. */
  readonly outcome: ProblemReply['outcome'];
  constructor({ status, code, detail, errors, outcome }: Omit<ProblemReply, 'type' | 'title'>) {
    super(`${code}: ${detail}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.outcome = outcome;
  }
}

/**
 * The calls of the API. Each rejects with `ApiProblem` for an answer that says no, and with what
 * `fetch` throws (a `TypeError`) when the host cannot be reached.
 */
export interface Client {
  createRun(body: RunCreateBody, once?: Once): Promise<RunCreatedReply | RunReply>;
  run(id: string): Promise<RunReply>;
  runs(query?: PageQuery): Promise<Page<RunReply>>;
  messageRun(id: string, text: string, once?: Once): Promise<MessageCreatedReply>;
  cancelRun(id: string): Promise<RunReply>;
  /** Kept events and live text until the run's end; resumes by itself after a lost connection. */
  runEvents(id: string, options?: StreamOptions): AsyncGenerator<StreamEvent, void, void>;
  openConversation(body?: ConversationCreateBody): Promise<ConversationReply>;
  conversation(id: string): Promise<ConversationReply>;
  conversations(query?: PageQuery): Promise<Page<ConversationReply>>;
  /** Of the whole conversation, or of one of its sessions. */
  transcript(id: string, query?: TranscriptQuery): Promise<Page<TranscriptItem>>;
  /** The sessions of a conversation. */
  sessions(id: string, query?: PageQuery): Promise<Page<SessionReply>>;
  session(id: string): Promise<SessionReply>;
  /** As `runEvents`, without an end of its own. `after` of the conversation's `lastEventId` is "from now". */
  conversationEvents(id: string, options?: StreamOptions): AsyncGenerator<StreamEvent, void, void>;
  postMessage(id: string, body: MessageCreateBody, once?: Once): Promise<MessageCreatedReply>;
  message(id: string): Promise<MessageReply>;
  tasks(query?: TaskQuery): Promise<Page<TaskReply>>;
  task(id: string): Promise<TaskReply>;
  taskEvents(id: string, query?: PageQuery): Promise<Page<TaskEventItem>>;
  why(id: string): Promise<WhyReply>;
  stopTask(id: string, order?: TaskOrderBody, once?: Once): Promise<TaskStoppedReply>;
  resumeTask(id: string, order?: TaskResumeBody, once?: Once): Promise<TaskReply>;
  pauseTask(id: string, order?: TaskOrderBody, once?: Once): Promise<TaskReply>;
  /** Opens a new epoch of assessments for a task that has used up its own. */
  resetBudget(id: string, order?: TaskOrderBody, once?: Once): Promise<TaskReply>;
  /** Numbers are additions; a deadline is an addition like `+2d` or an ISO instant. */
  extendTask(id: string, order: TaskExtendBody, once?: Once): Promise<TaskReply>;
  /** Maintenance operations. */
  operations(query?: OperationQuery): Promise<Page<OperationReply>>;
  operation(id: string): Promise<OperationReply>;
  whyOperation(id: string): Promise<WhyReply>;
  /** Opens the next epoch of a blocked maintenance operation; a receipt is used once. */
  admit(id: string, order: AdmitBody): Promise<OperationReply>;
  workers(query?: WorkerQuery): Promise<Page<WorkerReply>>;
  worker(id: string): Promise<WorkerReply>;
  /** Wakes exactly this worker, which the boundary holds. */
  resumeWorker(id: string, order?: WorkerOrderBody, once?: Once): Promise<WorkerReply>;
  approvals(query?: ApprovalQuery): Promise<Page<ApprovalReply>>;
  approval(id: string): Promise<ApprovalReply>;
  answerApproval(
    id: string,
    answer: ApprovalAnswerBody,
    once?: Once,
  ): Promise<ApprovalAnsweredReply>;
  /** Of the last `days`, today included; 7 without it. */
  usage(query?: { readonly days?: number }): Promise<UsageReply>;
  /** Says that the host's wall clock is right as it stands. */
  confirmClock(): Promise<ClockReply>;
  /** Lets the host start work by itself again. */
  endSafeMode(): Promise<SafeModeReply>;
  /** What is wrong with the installation, and what changes it. */
  doctor(): Promise<DoctorReply>;
  /** Gives silent tasks their reason and closes open files. */
  repair(): Promise<RepairReply>;
  /** Everything that people own there, as bytes of JSON lines; what breaks off rejects while it is read. */
  exportAll(): Promise<ReadableStream<Uint8Array>>;
  outbox(query?: OutboxQuery): Promise<Page<OutboxReply>>;
  status(): Promise<StatusReply>;
  attention(): Promise<AttentionReply>;
  /** Also answers for a host that is not ready; rejects only when none is there. */
  ready(): Promise<HealthReply>;
}

interface Ask {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly once?: Once | undefined;
}

export function createClient({ url, key, fetch = globalThis.fetch }: ClientParts): Client {
  const base = url.replace(/\/+$/, '');
  const send = (ask: Ask): Promise<Response> =>
    fetch(`${base}${ask.path}${queryOf(ask.query)}`, {
      method: ask.method,
      headers: headersOf(key, ask),
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
      ...(ask.once?.signal === undefined ? {} : { signal: ask.once.signal }),
      redirect: 'error',
    });
  const call = async <T>(ask: Ask): Promise<T> => {
    const response = await send(ask);
    if (!response.ok) throw await problemFrom(response);
    return (await response.json()) as T;
  };
  const stream = async (path: string): Promise<ReadableStream<Uint8Array>> => {
    const response = await send({ method: 'GET', path });
    if (!response.ok) throw await problemFrom(response);
    return response.body ?? new ReadableStream();
  };
  const get = <T>(path: string, query?: object): Promise<T> =>
    call<T>({ method: 'GET', path, query });
  const post = <T>(path: string, body: object, once?: Once): Promise<T> =>
    call<T>({ method: 'POST', path, body, once });
  const follow = (path: string, options: StreamOptions | undefined) =>
    followStream(`${base}${path}`, { key, fetch, problemFrom, ...options });
  return {
    createRun: (body, once) => post('/v1/runs', body, once),
    run: (id) => get(`/v1/runs/${part(id)}`),
    runs: (query) => get('/v1/runs', query),
    messageRun: (id, text, once) => post(`/v1/runs/${part(id)}/messages`, { text }, once),
    cancelRun: (id) => post(`/v1/runs/${part(id)}/cancel`, {}),
    runEvents: (id, options) => follow(`/v1/runs/${part(id)}/events`, options),
    openConversation: (body = {}) => post('/v1/conversations', body),
    conversation: (id) => get(`/v1/conversations/${part(id)}`),
    conversations: (query) => get('/v1/conversations', query),
    conversationEvents: (id, options) => follow(`/v1/conversations/${part(id)}/events`, options),
    postMessage: (id, body, once) => post(`/v1/conversations/${part(id)}/messages`, body, once),
    message: (id) => get(`/v1/messages/${part(id)}`),
    tasks: (query) => get('/v1/tasks', query),
    task: (id) => get(`/v1/tasks/${part(id)}`),
    taskEvents: (id, query) => get(`/v1/tasks/${part(id)}/events`, query),
    why: (id) => get(`/v1/tasks/${part(id)}/why`),
    ...orders(post),
    ...upkeep(get),
    workers: (query) => get('/v1/workers', query),
    worker: (id) => get(`/v1/workers/${part(id)}`),
    approvals: (query) => get('/v1/approvals', query),
    approval: (id) => get(`/v1/approvals/${part(id)}`),
    usage: (query) => get('/v1/usage', query),
    doctor: () => get('/v1/admin/doctor'),
    repair: () => post('/v1/admin/repair', { repair: true }),
    exportAll: () => stream('/v1/admin/export'),
    outbox: (query) => get('/v1/outbox', query),
    status: () => get('/v1/status'),
    attention: () => get('/v1/attention'),
    ready: async () =>
      (await (await send({ method: 'GET', path: '/readyz' })).json()) as HealthReply,
  };
}

type Get = <T>(path: string, query?: object) => Promise<T>;
type Upkeep = 'transcript' | 'sessions' | 'session' | 'operations' | 'operation' | 'whyOperation';

function upkeep(get: Get): Pick<Client, Upkeep> {
  return {
    transcript: (id, query) => get(`/v1/conversations/${part(id)}/transcript`, query),
    sessions: (id, query) => get(`/v1/conversations/${part(id)}/sessions`, query),
    session: (id) => get(`/v1/sessions/${part(id)}`),
    operations: (query) => get('/v1/maintenance', query),
    operation: (id) => get(`/v1/maintenance/${part(id)}`),
    whyOperation: (id) => get(`/v1/maintenance/${part(id)}/why`),
  };
}

type Post = <T>(path: string, body: object, once?: Once) => Promise<T>;
type Orders =
  | 'stopTask'
  | 'resumeTask'
  | 'pauseTask'
  | 'extendTask'
  | 'resetBudget'
  | 'resumeWorker'
  | 'admit'
  | 'answerApproval'
  | 'confirmClock'
  | 'endSafeMode';

function orders(post: Post): Pick<Client, Orders> {
  const task = (id: string, order: string): string => `/v1/tasks/${part(id)}/${order}`;
  return {
    stopTask: (id, order = {}, once) => post(task(id, 'stop'), order, once),
    resumeTask: (id, order = {}, once) => post(task(id, 'resume'), order, once),
    pauseTask: (id, order = {}, once) => post(task(id, 'pause'), order, once),
    extendTask: (id, order, once) => post(task(id, 'extend'), order, once),
    resetBudget: (id, order = {}, once) => post(task(id, 'budget-reset'), order, once),
    resumeWorker: (id, order = {}, once) => post(`/v1/workers/${part(id)}/resume`, order, once),
    admit: (id, order) => post(`/v1/maintenance/${part(id)}/admit`, order),
    answerApproval: (id, answer, once) => post(`/v1/approvals/${part(id)}`, answer, once),
    confirmClock: () => post('/v1/admin/clock', { confirm: true }),
    endSafeMode: () => post('/v1/admin/safe-mode', { on: false }),
  };
}

function part(id: string): string {
  return encodeURIComponent(id);
}

function queryOf(query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  const texts = given.map(([name, value]) => [name, String(value)] as const);
  return `?${new URLSearchParams(Object.fromEntries(texts)).toString()}`;
}

function headersOf(key: string, { body, once }: Ask): Record<string, string> {
  return {
    Authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(once?.idempotencyKey === undefined ? {} : { 'Idempotency-Key': once.idempotencyKey }),
  };
}

async function problemFrom(response: Response): Promise<ApiProblem> {
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) {
    const { code, detail, errors, outcome } = (await response.json()) as ProblemReply;
    return new ApiProblem({ status, code, detail, errors, outcome });
  }
  // Something between us and the host answered in words of its own.
  await response.body?.cancel();
  return new ApiProblem({ status, code: 'unreadable', detail: response.statusText });
}
