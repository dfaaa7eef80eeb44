// A host in small, for what a process reads of its environment at its start: fetches one URL of this
// machine and prints what came.
import { surfing } from './tools-web.ts';

const [url = ''] = process.argv.slice(2);
await using at = await surfing({ allow: ['127.0.0.1', 'site.com'] });
process.stdout.write((await at.call('fetch', { url })).text);
