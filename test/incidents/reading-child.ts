// A process that reads a store and never lets go: it says `holds` once its read has begun.
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(process.argv[2] ?? '', { readOnly: true });
db.exec('begin');
const held = db.prepare('select count(*) as messages from message').get();
process.stdout.write(`holds ${String(held?.['messages'])}\n`);
process.stdin.resume();
