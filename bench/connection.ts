import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

const HEAD_END = '\r\n\r\n';

/**
 * One kept connection that asks one thing at a time. A whole HTTP client would take as much of the
 * machine as the host that is measured.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket, head: string) {
    this.#socket = socket;
    this.#head = head;
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => this.#take(piece));
    socket.on('error', (error) => this.#settle?.reject(error));
    socket.on('close', () => this.#settle?.reject(new Error('the host closed the connection')));
  }

  static async open(host: { readonly url: string; readonly key: string }): Promise<Connection> {
    const { hostname, port } = new URL(host.url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const head = `Host: ${hostname}:${port}\r\nAuthorization: Bearer ${host.key}\r\n`;
    return new Connection(socket, head);
  }

  /** Posts JSON; bodies of either side are ASCII. Rejects when the host has closed the connection. */
  post(path: string, body: object): Promise<Answer> {
    const text = JSON.stringify(body);
    return this.#ask(
      `POST ${path} HTTP/1.1\r\n${this.#head}Content-Type: application/json\r\n` +
        `Content-Length: ${text.length}${HEAD_END}${text}`,
    );
  }

  /** Rejects when the host has closed the connection. */
  get(path: string): Promise<Answer> {
    return this.#ask(`GET ${path} HTTP/1.1\r\n${this.#head}\r\n`);
  }

  #ask(request: string): Promise<Answer> {
    if (this.#socket.closed) return Promise.reject(new Error('the host closed the connection'));
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(piece: string): void {
    this.#received += piece;
    const end = this.#received.indexOf(HEAD_END);
    if (end === -1) return;
    const head = this.#received.slice(0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    const begin = end + HEAD_END.length;
    if (this.#received.length < begin + length) return;
    const body = this.#received.slice(begin, begin + length);
    this.#received = this.#received.slice(begin + length);
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.resolve({ status: Number(head.slice('HTTP/1.1 '.length, 12)), body });
  }
}

/** Posts and demands this status. */
export async function demand(
  connection: Connection,
  ask: { readonly path: string; readonly body: object; readonly status: number },
): Promise<Record<string, unknown>> {
  const { status, body } = await connection.post(ask.path, ask.body);
  if (status !== ask.status) throw new Error(`${ask.path} answered ${status}: ${body}`);
  return JSON.parse(body) as Record<string, unknown>;
}
