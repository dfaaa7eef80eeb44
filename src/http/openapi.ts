import { z } from 'zod';
import { ProblemReply } from '../wire/problem.ts';
import { StreamEvent } from '../wire/stream.ts';
import type { Reply, Route } from './call.ts';

type Part = Readonly<Record<string, unknown>>;

/** What every route with a key may be answered with beside its own replies. */
const COMMON = [400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 431, 500, 503, 507];

/** The OpenAPI 3.1 document of the table that the router is made from. */
export function describeRoutes(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, Part>> = {};
  for (const line of routes) {
    const path = (paths[line.path] ??= {});
    path[line.method.toLowerCase()] = operationOf(line);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sekisho', version },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: schemaOf(ProblemReply), StreamEvent: schemaOf(StreamEvent) },
      responses: {
        Problem: {
          description: 'Why not, with a stable `code`',
          content: {
            'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
          },
        },
      },
    },
  };
}

function operationOf(line: Route): Part {
  const parameters = [...pathParameters(line), ...queryParameters(line), ...headers(line)];
  const isOpen = line.need === 'none';
  return {
    operationId: operationIdOf(line),
    summary: line.summary,
    ...(isOpen ? { security: [] } : { 'x-scope': line.need }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(line.body === undefined ? {} : { requestBody: bodyOf(line) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(line.replies).map(([status, one]) => [status, replyOf(one)]),
      ),
      ...(isOpen ? {} : problems(line)),
    },
  };
}

function operationIdOf({ method, path }: Route): string {
  const words = path
    .replaceAll(/\{id\}/g, 'one')
    .split(/[/.]+/)
    .filter(Boolean);
  return [method.toLowerCase(), ...words.filter((word) => word !== 'v1')].join('_');
}

function problems({ replies }: Route): Part {
  const free = COMMON.filter((status) => !(status in replies));
  return Object.fromEntries(
    [...free, 409].map((status) => [status, { $ref: '#/components/responses/Problem' }]),
  );
}

function replyOf({ what, shape, type = 'application/json' }: Reply): Part {
  if (type === 'text/event-stream') {
    const schema = { type: 'string', description: 'each `data:` is a StreamEvent' };
    return { description: what, content: { [type]: { schema } } };
  }
  const schema =
    shape === undefined ? (type === 'application/json' ? {} : { type: 'string' }) : undefined;
  return {
    description: what,
    content: { [type]: { schema: schema ?? schemaOf(shape ?? z.unknown()) } },
  };
}

function bodyOf({ body, isBodyOptional }: Route): Part {
  return {
    required: isBodyOptional !== true,
    content: { 'application/json': { schema: schemaOf(body ?? z.unknown()) } },
  };
}

function pathParameters({ path }: Route): readonly Part[] {
  if (!path.includes('{id}')) return [];
  return [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
}

function queryParameters({ query }: Route): readonly Part[] {
  if (query === undefined) return [];
  const { properties = {} } = schemaOf(query) as { properties?: Record<string, Part> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

function headers({ isIdempotent, replies }: Route): readonly Part[] {
  const names = [
    ...(isIdempotent === true ? ['Idempotency-Key'] : []),
    ...(Object.values(replies).some(({ type }) => type === 'text/event-stream')
      ? ['Last-Event-ID']
      : []),
  ];
  return names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
}

function schemaOf(shape: z.ZodType): Part {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return schema;
}
