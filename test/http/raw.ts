import { connect } from 'node:net';
import type { TestDoor } from './door.ts';

/** Sends bytes as they are over a connection of their own and gives what came back until it closed. */
export function talk(door: TestDoor, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
    const heard: Buffer[] = [];
    socket.on('data', (data) => heard.push(data));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A door that closes while we still send resets the line; what it said before counts.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(Buffer.concat(heard).toString('utf8')));
    socket.write(bytes);
  });
}
