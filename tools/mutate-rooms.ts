/** A part of the source that is mutated by itself, and the tests that have to notice. */
export interface MutatedRoom {
  readonly name: string;
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /** Of every hundred mutants, how many at least must be noticed. */
  readonly floor: number;
}

const FLOOR = 85;
/** Where a slip lets somebody in, out, or sends something twice. */
const GUARD_FLOOR = 95;

/** The rooms of core, by the weight of what they promise; each is judged by its own unit tests. */
const CORE = [
  'task',
  'turn',
  'recovery',
  'maintenance',
  'approval',
  'budget',
  'boundary',
  'inbox',
  'lease',
  'dispatch',
  'audit',
  'notice',
  'run',
  'archive',
] as const;

export const ROOMS: readonly MutatedRoom[] = [
  ...CORE.map((name) => coreRoom(name)),
  {
    name: 'path',
    mutate: ['src/adapters/tools/workspace-path.ts'],
    tests: ['src/adapters/tools/workspace-path.test.ts'],
    floor: GUARD_FLOOR,
  },
  {
    name: 'auth',
    mutate: ['src/http/{auth,keys,address}.ts', 'src/kernel/principal.ts'],
    tests: ['src/http/{auth,keys,address}.test.ts', 'src/kernel/principal.test.ts'],
    floor: GUARD_FLOOR,
  },
  {
    name: 'outbox',
    mutate: ['src/{core,engine}/outbox/*.ts', 'src/adapters/store/outbox.ts'],
    tests: ['src/{core,engine}/outbox/*.test.ts', 'src/adapters/store/outbox.test.ts'],
    floor: GUARD_FLOOR,
  },
  {
    name: 'approving',
    mutate: ['src/engine/approval/*.ts'],
    tests: ['src/engine/approval/*.test.ts'],
    floor: GUARD_FLOOR,
  },
  {
    name: 'approval-store',
    mutate: ['src/adapters/store/approval.ts'],
    tests: ['src/adapters/store/approval.test.ts'],
    floor: FLOOR,
  },
  {
    name: 'approval-door',
    mutate: ['src/http/{approvals,outbox}.ts', 'src/http/view/approval.ts'],
    tests: ['src/http/{approvals,outbox}.test.ts'],
    floor: GUARD_FLOOR,
  },
];

function coreRoom(name: (typeof CORE)[number]): MutatedRoom {
  return {
    name,
    mutate: [`src/core/${name}/*.ts`],
    tests: [`src/core/${name}/*.test.ts`],
    floor: FLOOR,
  };
}
