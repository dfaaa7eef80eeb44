import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';

const NUMBER = /^\d+$/;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** In ticks since the boot. */
  readonly startedAt: number;
  /** Zombies have ended and wait to be collected. */
  readonly isRunning: boolean;
}

/** Everything that descends from `pid`, from one look at the table of processes. */
export async function descendantsOf(pid: number): Promise<readonly number[]> {
  const all = await table();
  const children = Map.groupBy(all, (process) => process.parent);
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = next.flatMap((parent) => (children.get(parent) ?? []).map((process) => process.pid));
    found.push(...next);
  }
  return found;
}

/**
 * What a process started, as far as looks at the table can tell: whoever descends from one of the
 * family or is in a session of one. A daemon that left both between two looks is not seen.
 */
export class Family {
  readonly #since: number;
  readonly #started = new Map<number, number>();
  readonly #sessions: Set<number>;

  /**
   * `pid` leads its own session. Call it in the turn of the event loop that started it: until then
   * it is in the table even when it has ended.
   */
  static of(pid: number): Family {
    return new Family(pid, Number(fieldsOf(readSync(`/proc/${pid}/stat`))?.[STARTED_AT]));
  }

  private constructor(pid: number, since: number) {
    this.#since = since;
    this.#started.set(pid, since);
    this.#sessions = new Set([pid]);
  }

  /** The numbers of those that run now. Never rejects. */
  async look(): Promise<readonly number[]> {
    const all = (await table()).filter((process) => process.startedAt >= this.#since);
    for (let size = -1; size !== this.#started.size;) {
      size = this.#started.size;
      const parents = new Set(all.filter((one) => this.#isSame(one)).map((one) => one.pid));
      for (const process of all) {
        if (!parents.has(process.parent) && !this.#sessions.has(process.session)) continue;
        this.#started.set(process.pid, process.startedAt);
        this.#sessions.add(process.session);
      }
    }
    return all
      .filter((process) => process.isRunning && this.#isSame(process))
      .map((process) => process.pid);
  }

  #isSame(process: Process): boolean {
    return this.#started.get(process.pid) === process.startedAt;
  }
}

/** True while `pid` runs; one that only waits to be collected has ended. */
export async function isRunning(pid: number): Promise<boolean> {
  return isAlive((await statOf(pid))?.[0]);
}

function isAlive(state: string | undefined): boolean {
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** How many processes see `pid` as one of theirs, read off their own table: one call, however many. */
export async function countInNamespaceOf(pid: number): Promise<number> {
  try {
    return (await readdir(`/proc/${pid}/root/proc`)).filter((name) => NUMBER.test(name)).length;
  } catch {
    return 0;
  }
}

/** How many threads a user has, as the kernel's bound of processes counts them; undefined where nothing tells. */
export async function threadsOf(uid: number): Promise<number | undefined> {
  const counts = await Promise.all(
    (await numbers()).map(async (pid) => {
      const owner = await stat(`/proc/${pid}`).catch(() => undefined);
      return owner?.uid === uid ? Number((await statOf(pid))?.[THREADS] ?? 0) : 0;
    }),
  );
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

async function table(): Promise<readonly Process[]> {
  const rows = await Promise.all(
    (await numbers()).map(async (pid): Promise<Process | undefined> => {
      const fields = await statOf(pid);
      return (
        fields && {
          pid,
          parent: Number(fields[PARENT]),
          session: Number(fields[SESSION]),
          startedAt: Number(fields[STARTED_AT]),
          isRunning: isAlive(fields[0]),
        }
      );
    }),
  );
  return rows.filter((row) => row !== undefined);
}

/** Of all processes; none where there is no table to read. */
async function numbers(): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => NUMBER.test(name)).map(Number);
}

/** Fields of `/proc/PID/stat`, counted from the one after the name. */
const PARENT = 1;
const SESSION = 3;
const THREADS = 17;
const STARTED_AT = 19;

async function statOf(pid: number): Promise<readonly string[] | undefined> {
  return fieldsOf(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined));
}

function readSync(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The fields after the name, which alone may hold spaces and brackets. */
function fieldsOf(text: string | undefined): readonly string[] | undefined {
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}
