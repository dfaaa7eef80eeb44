// What each route of the table can be asked for: ids that exist, and a body that it takes.
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Route } from '../../src/http/call.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { until } from '../support/host.ts';
import type { KeyName } from './door.ts';
import type { Within } from './within.ts';

/** Ids by the room of a path: `/v1/tasks/{id}` finds its id under `tasks`. */
export type Subjects = Readonly<Record<string, string>>;

/** One record of each kind, all of this key. */
export async function makeSubjects(within: Within, key: KeyName = 'ops'): Promise<Subjects> {
  const { conversationId, taskId, id } = await answered(within, key, '/v1/runs', { input: 'x' });
  const path = `/v1/conversations/${String(conversationId)}/messages`;
  const { messageId } = await answered(within, key, path, { text: '/help' });
  await settled(within, conversationId as ConversationId, messageId as string);
  const subjects = { runs: id, conversations: conversationId, tasks: taskId, messages: messageId };
  return subjects as Subjects;
}

async function answered(
  { say }: Within,
  key: KeyName,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const { status, text } = await say('POST', path, { key, raw: JSON.stringify(body) });
  assert.equal(status, 202, text);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Resolves once the message was dealt with, and with it all that was accepted before it. */
export async function settled(
  { engine }: Within,
  conversationId: ConversationId,
  messageId: string,
): Promise<void> {
  const id = messageId as `msg_${string}`;
  await until(engine, conversationId, async () => {
    const message = await engine.store.query('message.byId', { id });
    return message?.state === 'done';
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
  const sample = sample1(shapeOf(line)) as Record<string, unknown>;
  const parsed = line.body?.safeParse(sample);
  assert.ok(parsed?.success, `${titleOf(line)} needs a sample in the sweeps`);
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
