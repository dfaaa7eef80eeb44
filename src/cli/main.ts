import { runCommandLine } from './run.ts';

// Whoever reads us may stop reading: `sekisho tasks | head -1` is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
});

const code = await runCommandLine(process.argv.slice(2));
await new Promise((resolve) => process.stdout.write('', resolve));
process.exit(code);
