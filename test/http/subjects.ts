// What each route of the table can be asked for: ids that exist, and a body that it takes.
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Engine } from '../../src/engine/engine.ts';
import type { Route } from '../../src/http/call.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { ConversationId, MessageId } from '../../src/kernel/ids.ts';
import type { ModelOutcome } from '../../src/ports/model.ts';
import { asks, says, taskIn, until, type Installation } from '../support/host.ts';
import { putWorker } from './history.ts';
import { EXHAUSTED, putOperation } from './upkeep.ts';

/** Ids by the room of a path: `/v1/tasks/{id}` finds its id under `tasks`. */
export type Subjects = Readonly<Record<string, string>>;

/** What a host offers to make them, behind a socket or without one. */
export interface Maker {
  readonly installation: Installation;
  readonly engine: Engine;
  /** Posts and gives the body of the answer. */
  readonly post: (path: string, body: object) => Promise<Readonly<Record<string, unknown>>>;
}

const HELD = 'a run that is not over';
const ASKED = 'a call that a person is asked about';

/**
 * One record of each kind, all of the key that `post` gives: a run whose model does not answer, so that
 * it takes messages, a task that is over, an approval that is open, a worker that is held, and a session
 * whose maintenance is blocked.
 */
export async function makeSubjects({ installation, engine, post }: Maker): Promise<Subjects> {
  const { model, tools } = installation;
  tools.asked.add('pay');
  model.answer = (request, signal) => {
    const text = JSON.stringify(request.messages);
    if (text.includes(HELD)) return ended(signal);
    const isAsked = text.includes(ASKED) && !text.includes('"role":"tool"');
    return isAsked ? asks(['pay', {}]) : says('ok');
  };
  const held = await post('/v1/runs', { input: HELD });
  const asked = await post('/v1/runs', { input: ASKED });
  const over = await post('/v1/runs', { input: 'x' });
  const conversation = over['conversationId'] as ConversationId;
  const message = await post(`/v1/conversations/${conversation}/messages`, { text: '/help' });
  await until(engine, conversation, async () => {
    const id = message['messageId'] as MessageId;
    return (await engine.store.query('message.byId', { id }))?.state === 'done';
  });
  await taskIn(engine, conversation, 'completed');
  const fenced = (await post('/v1/runs', { input: 'x' }))['conversationId'] as ConversationId;
  const { sessionId } = await taskIn(engine, fenced, 'completed');
  const approval = await openApproval(engine, asked['conversationId'] as ConversationId);
  return {
    runs: String(held['id']),
    conversations: conversation,
    tasks: String(over['taskId']),
    messages: String(message['messageId']),
    approvals: approval,
    sessions: sessionId,
    maintenance: await putOperation({ engine, installation }, fenced, EXHAUSTED),
    workers: await putWorker(engine, installation),
  };
}

function ended(signal: AbortSignal): Promise<ModelOutcome> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(says('')), { once: true });
  });
}

function openApproval(engine: Engine, conversationId: ConversationId): Promise<string> {
  return until(engine, conversationId, async () => {
    const asked = { state: 'open', conversationId, before: '~', limit: 1 };
    const [approval] = await engine.store.query('approval.list', asked);
    return approval?.id;
  });
}

/** The path of a route with the id of its subject. */
export function pathFor({ path }: Route, subjects: Subjects): string {
  if (!path.includes('{id}')) return path;
  const id = subjects[path.split('/')[2] ?? ''];
  assert.ok(id !== undefined, `${path} needs a subject in the sweeps`);
  return path.replace('{id}', id);
}

export function titleOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

export const BODY_ROUTES: readonly Route[] = ROUTES.filter(({ body }) => body !== undefined);

interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly minimum?: number;
  readonly minLength?: number;
}

function shapeOf({ body }: Route): Shape {
  assert.ok(body !== undefined);
  return z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Shape;
}

/** The least body that a route takes, made from its own schema. */
export function sampleOf(line: Route): Record<string, unknown> {
  const shape = shapeOf(line);
  const least = sample1(shape) as Record<string, unknown>;
  // A rule over several fields stands in no schema: one field more may be what it asks for.
  const further = Object.entries(shape.properties ?? {}).map(([name, inner]) => {
    return { ...least, [name]: sample1(inner) };
  });
  const sample = [least, ...further].find((one) => line.body?.safeParse(one).success === true);
  assert.ok(sample !== undefined, `${titleOf(line)} needs a sample in the sweeps`);
  return sample;
}

function sample1(shape: Shape): unknown {
  const [first] = shape.anyOf ?? shape.oneOf ?? [];
  if (first !== undefined) return sample1(first);
  const [choice] = 'const' in shape ? [shape.const] : (shape.enum ?? []);
  if (choice !== undefined) return choice;
  return shape.type === 'object' ? sampleObject(shape) : sampleSimple(shape);
}

function sampleObject({ required = [], properties = {} }: Shape): object {
  return Object.fromEntries(required.map((name) => [name, sample1(properties[name] ?? {})]));
}

function sampleSimple({ type = 'string', minimum = 1 }: Shape): unknown {
  const simple: Record<string, unknown> = { string: 'x', boolean: true, array: [] };
  return simple[type] ?? Math.max(1, minimum);
}

/** Where in a body something can be put. */
export interface Field {
  /** As problems name it: `metadata.a`. */
  readonly name: string;
  /** The body with this in the field. */
  readonly put: (value: unknown) => Record<string, unknown>;
}

/** Every field of a route's body at every depth, whatever its type, and the keys of its free records. */
export function fieldsOf(line: Route): readonly Field[] {
  return placesOf(shapeOf(line)).map((place) => ({
    name: place.join('.'),
    put: (value) => putAt(sampleOf(line), place, value) as Record<string, unknown>,
  }));
}

/** In a place, the value becomes the key of a record. */
const AS_KEY = '<key>';

function placesOf(shape: Shape): readonly (readonly string[])[] {
  const branches = [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])].flatMap(placesOf);
  const named = Object.entries(shape.properties ?? {}).flatMap(([name, inner]) => [
    [name],
    ...placesOf(inner).map((place) => [name, ...place]),
  ]);
  const { additionalProperties: free, items } = shape;
  const keyed = typeof free === 'object' ? [['a'], [AS_KEY]] : [];
  const listed = items === undefined ? [] : [['0'], ...placesOf(items).map((at) => ['0', ...at])];
  const all = [...branches, ...named, ...keyed, ...listed];
  return [...new Map(all.map((place) => [place.join('.'), place])).values()];
}

function putAt(into: unknown, place: readonly string[], value: unknown): unknown {
  const [name, ...rest] = place;
  if (name === undefined) return value;
  if (name === '0') return [putAt(undefined, rest, value)];
  const from = typeof into === 'object' && into !== null ? into : {};
  if (name === AS_KEY) return Object.fromEntries([...Object.entries(from), [String(value), 'x']]);
  const inner = putAt((from as Record<string, unknown>)[name], rest, value);
  return { ...from, [name]: inner };
}
