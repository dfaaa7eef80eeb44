import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startModelServer } from '../src/testing/model-server.ts';
import { Connection, demand } from './connection.ts';
import { inFolder, type Figures } from './measure.ts';
import { configure, startHost } from './process.ts';

/** the bytes of the model request for "hello" with all built-in tools. */
export async function benchRequest(): Promise<Figures> {
  return inFolder(async (folder) => {
    const server = await startModelServer();
    mkdirSync(join(folder, 'workspace'));
    configure(folder, { modelUrl: server.url, concurrent: 1 });
    const host = await startHost(folder);
    const connection = await Connection.open(host);
    const body = { input: 'hello', wait: 60 };
    await demand(connection, { path: '/v1/runs', body, status: 200 });
    connection.close();
    await host.end();
    await server.close();
    const request = server.requests[0];
    const tools = request?.body['tools'];
    const bytes = Buffer.byteLength(request?.text ?? '');
    const count = Array.isArray(tools) ? tools.length : 0;
    return { met: bytes <= 12_000 && count > 0, bytes, tools: count };
  });
}
