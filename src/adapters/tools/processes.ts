import { readdir, readFile } from 'node:fs/promises';

const NUMBER = /^\d+$/;

interface Process {
  readonly pid: number;
  readonly parent: number;
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

/** True while `pid` runs; one that only waits to be collected has ended. */
export async function isRunning(pid: number): Promise<boolean> {
  const state = (await statOf(pid))?.[0];
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

async function table(): Promise<readonly Process[]> {
  const names = (await readdir('/proc')).filter((name) => NUMBER.test(name));
  const rows = await Promise.all(
    names.map(async (name) => {
      const parent = Number((await statOf(Number(name)))?.[1]);
      return { pid: Number(name), parent };
    }),
  );
  return rows.filter((row) => !Number.isNaN(row.parent));
}

/** The fields after the name, which alone may hold spaces and brackets. */
async function statOf(pid: number): Promise<readonly string[] | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
