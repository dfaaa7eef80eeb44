import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { callsTool, says, type ModelAnswer } from '../../src/testing/model-answer.ts';
import {
  startModelServer,
  type ModelServer,
  type RecordedRequest,
} from '../../src/testing/model-server.ts';
import type { StreamEvent } from '../../src/wire/stream.ts';
import { startHost, type HostProcess } from './host-process.ts';

interface Stage {
  readonly folder: string;
  readonly server: ModelServer;
  host: HostProcess;
}

async function onStage(
  script: (request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>,
  play: (stage: Stage) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-stream-'));
  mkdirSync(join(folder, 'workspace'));
  const server = await startModelServer(script);
  writeFileSync(
    join(folder, 'sekisho.yaml'),
    `data: ./data\nworkspace: ./workspace\napi: { port: 0 }\nmodel: { provider: openai-compatible, baseURL: '${server.url}', name: scripted }\n`,
  );
  const stage: Stage = { folder, server, host: await startHost(folder) };
  try {
    await play(stage);
  } finally {
    await stage.host.kill();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Kept events of a run until `last` says that it has seen enough, or the stream ends. */
async function readEvents(
  host: HostProcess,
  runId: string,
  options: { readonly after?: string; readonly last?: (event: StreamEvent) => boolean } = {},
) {
  const leave = new AbortController();
  const kept: (StreamEvent & { readonly id: string })[] = [];
  const after = options.after === undefined ? {} : { after: options.after };
  for await (const event of host.client.runEvents(runId, { signal: leave.signal, ...after })) {
    if (!('id' in event)) continue;
    kept.push(event);
    if (options.last?.(event) === true) break;
  }
  leave.abort();
  return kept;
}

function results(request: RecordedRequest): number {
  const messages = request.body['messages'] as readonly { readonly role: string }[];
  return messages.filter(({ role }) => role === 'tool').length;
}

test('A-1 Y55 a stream resumed in the middle and after a restart has each kept event once, in order', async () => {
  const script = (request: RecordedRequest): ModelAnswer => {
    const done = results(request);
    return done < 3
      ? callsTool('write', { path: `f${done}.txt`, content: 'x' })
      : says(['all ', 'written']);
  };
  await onStage(script, async (stage) => {
    const run = await stage.host.client.createRun({ input: 'write three files' });
    const whole = await readEvents(stage.host, run.id);
    const types = whole.map(({ type }) => type);
    assert.deepEqual(types, [
      'run.queued',
      'run.started',
      'model.selected',
      'tool.started',
      'tool.finished',
      'tool.started',
      'tool.finished',
      'tool.started',
      'tool.finished',
      'run.completed',
    ]);
    assert.equal(new Set(whole.map(({ id }) => id)).size, whole.length);
    for (const [place, event] of whole.entries()) {
      if (event.type === 'run.completed') continue;
      assert.deepEqual(
        await readEvents(stage.host, run.id, { after: event.id }),
        whole.slice(place + 1),
      );
    }
    await stage.host.kill();
    stage.host = await startHost(stage.folder);
    assert.deepEqual(await readEvents(stage.host, run.id), whole);
    assert.deepEqual(
      await readEvents(stage.host, run.id, { after: whole[4]?.id ?? '' }),
      whole.slice(5),
    );
    assert.equal((await stage.host.client.run(run.id)).output, 'all written');
  });
});

test('A-2 R-1 a run that a kill cut waits for its assessment, and its resumed stream ends with what that said', async () => {
  const asked = Promise.withResolvers<void>();
  const judged = Promise.withResolvers<void>();
  const isAssessment = ({ body }: RecordedRequest): boolean => 'response_format' in body;
  const script = (request: RecordedRequest): ModelAnswer | Promise<ModelAnswer> => {
    if (isAssessment(request))
      return says('{"verdict":"inconclusive","reason":"nobody knows"}', { before: judged.promise });
    if (results(request) === 0) return callsTool('write', { path: 'a.txt', content: 'x' });
    asked.resolve();
    return { kind: 'stall' };
  };
  await onStage(script, async (stage) => {
    const run = await stage.host.client.createRun({ input: 'write and think' });
    await asked.promise;
    const before = await readEvents(stage.host, run.id, {
      last: ({ type }) => type === 'tool.finished',
    });
    await stage.host.kill();
    stage.host = await startHost(stage.folder);
    assert.equal((await stage.host.client.run(run.id)).status, 'waiting');
    judged.resolve();
    const after = await readEvents(stage.host, run.id, { after: before.at(-1)?.id ?? '' });
    assert.deepEqual(
      after.map(({ type }) => type),
      ['notice', 'run.failed'],
    );
    const [notice] = after;
    assert.ok(notice?.type === 'notice');
    assert.deepEqual(
      [notice.level, notice.code, notice.command],
      ['blocked', 'recovery_inconclusive', `/task-resume ${run.taskId}`],
    );
    assert.match(notice.sentence, /write and think/);
    const why = await stage.host.client.why(run.taskId);
    assert.ok(why.commands.some(({ command }) => command === `/stop ${run.taskId}`));
    const turns = stage.server.requests.filter((request) => !isAssessment(request));
    assert.equal(turns.filter((request) => results(request) === 0).length, 1);
  });
});
