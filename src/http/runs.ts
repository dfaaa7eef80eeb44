import { z } from 'zod';
import type { RunRecord } from '../core/run/record.ts';
import { isId, type ConversationId, type RunId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { SECOND } from '../kernel/time.ts';
import { MessageCreatedReply } from '../wire/conversation.ts';
import { RunCreateBody, RunCreatedReply, RunMessageBody, RunReply } from '../wire/run.ts';
import { NothingBody, PAGE_QUERY, pageShape } from '../wire/shape.ts';
import { demandOwn, maySee } from './auth.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { demandConversation } from './conversation-of.ts';
import { askPage, cutPage, mapPage, sievedPage } from './page.ts';
import { problem, refusalProblem } from './problems.ts';
import { streamOf } from './stream.ts';
import { viewCreated, viewRun } from './view/run.ts';

async function createRun(call: Call<unknown, RunCreateBody>): Promise<Response> {
  const { door, identity, body, idempotency } = call;
  const { input, conversation, metadata, callbackUrl, wait = 0 } = body;
  const conversationId = await chosenConversation(call, conversation);
  const accepted = await door.engine.acceptRun({
    input,
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    principal: identity.principal,
    ...(idempotency === undefined ? {} : { idempotency }),
  });
  if (accepted.kind === 'refused') throw refusalProblem(door.engine, accepted);
  const { runId: id, taskId } = accepted;
  if (wait > 0) return waited(call, id, wait);
  // The answer of an acceptance, which a repeat of it gets again whatever became of the run since.
  const { conversationId: of } = accepted;
  return reply(202, { id, status: 'queued', conversationId: of, taskId } satisfies RunCreatedReply);
}

async function chosenConversation(
  call: Call,
  id: string | undefined,
): Promise<ConversationId | undefined> {
  if (id === undefined) return undefined;
  if (!isId('conversation', id)) throw problem('not_found');
  await demandConversation(call, id, 'write');
  return id;
}

/** Answers 200 once the run has ended, 202 when it has not in this time. Hints only make it quicker. */
async function waited(call: Call, id: RunId, seconds: number): Promise<Response> {
  const { engine, closing } = call.door;
  const { clock } = engine.parts;
  const until = clock.now() + seconds * SECOND;
  const gone = AbortSignal.any([call.request.signal, closing]);
  let run = await demandRun(call, id);
  let wake = (): void => {};
  const unsubscribe = engine.live.subscribe(run.conversationId, ({ kind }) => {
    if (kind === 'hint') wake();
  });
  try {
    for (;;) {
      const awake = new AbortController();
      // A reason of our own: without one an error with its stack is made.
      wake = () => awake.abort('hint');
      run = await demandRun(call, id);
      const left = until - clock.now();
      if (run.state !== 'open') return reply(200, await viewRun(engine, run));
      if (left <= 0 || gone.aborted) return reply(202, await viewCreated(engine, run));
      const pause = engine.store.traits.exclusive ? left : Math.min(left, LIMITS.tickMsShared);
      await clock.sleep(pause, AbortSignal.any([awake.signal, gone]));
    }
  } finally {
    unsubscribe();
  }
}

/** The run of this id, when the key may know of it; throws `not_found`. */
async function demandRun({ door, identity }: Call, id: string): Promise<RunRecord> {
  if (!isId('run', id)) throw problem('not_found');
  const run = await door.engine.store.query('run.byId', { id });
  if (run === undefined || !maySee(identity, run.principal)) throw problem('not_found');
  return run;
}

async function listRuns(call: Call<z.infer<typeof RunQuery>>): Promise<Response> {
  const { door, identity, query } = call;
  const ask = askPage(query, 'run');
  const { store } = door.engine;
  const page = identity.scopes.has('read')
    ? cutPage(await store.query('run.list', { ...ask, limit: ask.limit + 1 }), ask.limit)
    : await sievedPage<RunRecord>(
        ask,
        ({ principal }) => principal === identity.name,
        (part) => store.query('run.list', part),
      );
  return reply(200, await mapPage(page, (run) => viewRun(door.engine, run)));
}

async function messageRun(call: Call<unknown, RunMessageBody>): Promise<Response> {
  const { door, identity, body, idempotency } = call;
  const run = await demandRun(call, call.id);
  demandOwn(identity, run.principal);
  const accepted = await door.engine.messageRun({
    runId: run.id,
    text: body.text,
    principal: identity.principal,
    ...(idempotency === undefined ? {} : { idempotency }),
  });
  if (accepted.kind === 'refused') throw refusalProblem(door.engine, accepted);
  const { messageId, conversationId } = accepted;
  return reply(202, { messageId, conversationId } satisfies MessageCreatedReply);
}

async function cancelRun(call: Call): Promise<Response> {
  const { door, identity } = call;
  const run = await demandRun(call, call.id);
  demandOwn(identity, run.principal);
  const { principal } = identity;
  // A run that has ended keeps its end, and the answer tells which (INC-035).
  if (run.state === 'open') {
    const stopped = await door.engine.cancelRun({ runId: run.id, principal });
    if (stopped.kind === 'refused') throw refusalProblem(door.engine, stopped);
  }
  return reply(200, await viewRun(door.engine, await demandRun(call, call.id)));
}

const RunQuery = z.strictObject(PAGE_QUERY);

export const RUN_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/runs',
    need: 'run',
    summary: 'Start a run',
    body: RunCreateBody,
    isIdempotent: true,
    replies: {
      200: { what: 'It has ended within `wait`', shape: RunReply },
      202: { what: 'It is accepted', shape: RunCreatedReply },
    },
    handle: createRun,
  }),
  route({
    method: 'GET',
    path: '/v1/runs',
    need: 'any',
    summary: 'Runs, newest first; without the scope `read` the own ones',
    query: RunQuery,
    replies: { 200: { what: 'A page', shape: pageShape(RunReply) } },
    handle: listRuns,
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}',
    need: 'any',
    summary: 'One run',
    replies: { 200: { what: 'The run', shape: RunReply } },
    handle: async (call) =>
      reply(200, await viewRun(call.door.engine, await demandRun(call, call.id))),
  }),
  route({
    method: 'GET',
    path: '/v1/runs/{id}/events',
    need: 'any',
    summary: 'What happens in a run, as server-sent events; resumes after `Last-Event-ID`',
    replies: { 200: { what: 'Events until its end', type: 'text/event-stream' } },
    handle: async (call) => {
      const { conversationId, id, taskId } = await demandRun(call, call.id);
      return streamOf(call, { conversationId, run: { id, taskId } });
    },
  }),
  route({
    method: 'POST',
    path: '/v1/runs/{id}/messages',
    need: 'run',
    summary: 'A further message to a run',
    body: RunMessageBody,
    isIdempotent: true,
    replies: { 202: { what: 'It is accepted', shape: MessageCreatedReply } },
    handle: messageRun,
  }),
  route({
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    need: 'run',
    summary: 'Cancel a run; one that has ended keeps its end',
    body: NothingBody,
    isBodyOptional: true,
    replies: { 200: { what: 'The run as it is now', shape: RunReply } },
    handle: cancelRun,
  }),
];
