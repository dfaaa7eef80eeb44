// A real host in a process of its own before a scripted model server: what the incidents are played on.
import type { TestContext } from 'node:test';
import { request as httpRequest } from 'node:http';
import type { ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import { Place, type RunningHost } from '../e2e/process.ts';

export interface Stage {
  readonly place: Place;
  readonly server: ModelServer;
  /** The host that runs now. */
  readonly host: RunningHost;
  /** SIGKILL, and a new host on what it left. */
  killAndRestart(): Promise<RunningHost>;
}

/**
 * Opens a stage; everything on it ends with the test. `more` goes into the model's configuration, `config`
 * stands behind it.
 */
export async function openStage(
  t: TestContext,
  script: (request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>,
  more = '',
  config = '',
): Promise<Stage> {
  const server = await startModelServer(script);
  t.after(() => server.close());
  const model = `provider: openai-compatible, baseURL: '${server.url}', name: configured${more}`;
  const place = new Place(`api: { port: 0 }\nmodel: { ${model} }\n${config}`);
  t.after(() => place.clear());
  let host = await place.start();
  return {
    place,
    server,
    get host() {
      return host;
    },
    async killAndRestart() {
      host.signal('SIGKILL');
      await host.child.ended;
      host = await place.start();
      return host;
    },
  };
}

/** How many tool results the request tells of. */
export function resultsIn(request: RecordedRequest): number {
  const messages = request.body['messages'] as readonly { readonly role: string }[];
  return messages.filter(({ role }) => role === 'tool').length;
}

/** Speaks HTTP with headers that `fetch` would not send. */
export function rawAsk(
  url: string,
  asked: {
    readonly path: string;
    readonly method?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(url);
  const { path, method = 'GET', headers, body } = asked;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method, path, headers, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
