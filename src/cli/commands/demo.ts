import { CommandEnd } from '../exit.ts';

/** Each with what it shows. */
const DEMOS: Readonly<Record<string, () => Promise<void>>> = {
  recovery: async () => (await import('../demo/recovery.ts')).demoRecovery(),
  boundary: async () => (await import('../demo/boundary.ts')).demoBoundary(),
  context: async () => (await import('../demo/context.ts')).demoContext(),
};

/** `demo NAME`: shows one promise of the product with a host of its own. */
export async function demo(name?: string): Promise<void> {
  const play = name !== undefined && Object.hasOwn(DEMOS, name) ? DEMOS[name] : undefined;
  if (play === undefined) {
    const names = Object.keys(DEMOS).join(', ');
    const what =
      name === undefined ? 'demo takes a name' : `there is no demo ${JSON.stringify(name)}`;
    throw new CommandEnd('usage', `sekisho: ${what}; there are: ${names}`);
  }
  await play();
}
