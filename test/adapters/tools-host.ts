// A host in small, to be started as a process of its own: runs one command in a workspace and
// prints its outcome.
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import { findSandbox } from '../../src/adapters/tools/sandbox.ts';
import { clock, ENVIRONMENT } from './tools-workbench.ts';

const [workspace = '', command = '', without = ''] = process.argv.slice(2);
const sandbox = without === '' ? await findSandbox({ workspace }) : { unavailable: without };
const tools = builtInTools({
  workspace,
  clock,
  environment: ENVIRONMENT,
  sandbox,
  command: { approval: 'never' },
});
const call = { name: 'command', args: JSON.stringify({ command }), stepId: 'step_1' };
process.stdout.write(JSON.stringify(await tools.run(call, new AbortController().signal)));
