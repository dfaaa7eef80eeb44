// The contract that every runtime passes. It is published: whoever writes a runtime runs it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SessionId } from '../kernel/ids.ts';
import type { Runtime, RuntimeState } from '../ports/runtime.ts';

/** A step that changes something, or that a runtime may have changed something in. */
export type RuntimeStep = 'compact' | 'summarise' | 'rotate' | 'seed';

/** How the next call of a step is made to go wrong: it is rejected, breaks with a code, or waits for its signal. */
export type Disturbance = 'rejects' | 'throws' | 'hangs';

/** A runtime for one test. */
export interface OpenedRuntime {
  readonly runtime: Runtime;
  /** Begins a session with something in it. */
  readonly begin: (session: SessionId) => void | Promise<void>;
  /** Makes the next call of a step go wrong, before or after its effect. Without it those cases are skipped. */
  readonly disturb?: (step: RuntimeStep, how: Disturbance, when: 'before' | 'after') => void;
  readonly dispose?: () => void | Promise<void>;
}

export interface RuntimeContract {
  readonly name: string;
  open(): OpenedRuntime | Promise<OpenedRuntime>;
  /** Cases that do not apply, by title, each with its reason. */
  readonly excused?: Readonly<Record<string, string>>;
}

/** Declares the tests of the contract for one runtime. */
export function runtimeContract(contract: RuntimeContract): void {
  describe(`the runtime contract: ${contract.name}`, () => {
    for (const { title, isDisturbed, run } of CASES) {
      test(title, async (t) => {
        const opened = await contract.open();
        try {
          const reason = contract.excused?.[title] ?? lacking(opened, isDisturbed);
          if (reason === undefined) await run(opened);
          else t.skip(reason);
        } finally {
          await opened.dispose?.();
        }
      });
    }
  });
}

function lacking({ disturb }: OpenedRuntime, isDisturbed: boolean): string | undefined {
  return isDisturbed && disturb === undefined ? 'nothing can be made to go wrong' : undefined;
}

interface Case {
  readonly title: string;
  readonly isDisturbed: boolean;
  readonly run: (opened: OpenedRuntime) => Promise<void>;
}

const A: SessionId = 'sess_000000000000000A';
const B: SessionId = 'sess_000000000000000B';
const C: SessionId = 'sess_000000000000000C';
const TEXT = 'They talked about a journey.';
/** How soon a call has settled once its signal has ended it. */
const SETTLED_MS = 1_000;

const STEPS: readonly RuntimeStep[] = ['compact', 'summarise', 'rotate', 'seed'];

/** Makes a step of session A; a rotation leads to B. */
const MAKE: Readonly<
  Record<RuntimeStep, (runtime: Runtime, signal: AbortSignal) => Promise<{ readonly kind: string }>>
> = {
  compact: (runtime, signal) => runtime.compact(A, signal),
  summarise: (runtime, signal) => runtime.summarise(A, signal),
  rotate: (runtime, signal) => runtime.rotate({ from: A, next: B }, signal),
  seed: (runtime, signal) => runtime.seed({ session: A, text: TEXT }, signal),
};

const BEGUN: RuntimeState = { session: A, isSeeded: false };
/** Where the line of A stands once a step of it had its effect. */
const AFTER: Readonly<Record<RuntimeStep, RuntimeState>> = {
  compact: BEGUN,
  summarise: BEGUN,
  rotate: { session: B, isSeeded: false },
  seed: { session: A, isSeeded: true },
};

const WORKING: readonly Case[] = [
  whole('a session that was begun is the one that it is on, and has no seed', async (runtime) => {
    assert.deepEqual(await looked(runtime), BEGUN);
  }),
  whole('it looks as often as it is asked and changes nothing by it', async (runtime) => {
    for (let times = 0; times < 3; times += 1) assert.deepEqual(await looked(runtime), BEGUN);
  }),
  whole('it does not know a session that was never begun', async (runtime) => {
    assert.equal(await looked(runtime, C), null);
  }),
  whole('a compact says what the session takes then, and stays on it', async (runtime) => {
    const outcome = await runtime.compact(A, live());
    assert.equal(outcome.kind, 'done');
    const { tokens } = outcome.value;
    assert.ok(Number.isSafeInteger(tokens) && tokens >= 0, `${tokens} tokens`);
    assert.deepEqual(await looked(runtime), AFTER.compact);
  }),
  whole('a summary is not empty, and says of which session it is', async (runtime) => {
    const outcome = await runtime.summarise(A, live());
    assert.equal(outcome.kind, 'done');
    assert.equal(outcome.value.session, A);
    assert.notEqual(outcome.value.summary.trim(), '');
    assert.deepEqual(await looked(runtime), AFTER.summarise);
  }),
  whole('a rotation goes on in the new session, which has no seed', async (runtime) => {
    assert.equal((await runtime.rotate({ from: A, next: B }, live())).kind, 'done');
    assert.deepEqual(await looked(runtime, A), AFTER.rotate, 'asked about the one that it left');
    assert.deepEqual(await looked(runtime, B), AFTER.rotate, 'asked about the one that it is on');
  }),
  whole('a handover ends on the new session with its seed', async (runtime) => {
    assert.equal((await runtime.summarise(A, live())).kind, 'done');
    assert.equal((await runtime.rotate({ from: A, next: B }, live())).kind, 'done');
    assert.equal((await runtime.seed({ session: B, text: TEXT }, live())).kind, 'done');
    assert.deepEqual(await looked(runtime), { session: B, isSeeded: true });
    assert.equal((await runtime.compact(B, live())).kind, 'done', 'work goes on in it');
  }),
  whole('a seed may be given as often as one likes', async (runtime) => {
    for (let times = 0; times < 3; times += 1) {
      assert.equal((await runtime.seed({ session: A, text: TEXT }, live())).kind, 'done');
      assert.deepEqual(await looked(runtime), AFTER.seed);
    }
  }),
  whole('its lines are apart', async (runtime, { begin }) => {
    await begin(C);
    assert.equal((await runtime.rotate({ from: A, next: B }, live())).kind, 'done');
    assert.equal((await runtime.seed({ session: B, text: TEXT }, live())).kind, 'done');
    assert.deepEqual(await looked(runtime, C), { session: C, isSeeded: false });
  }),
  whole('nothing is done to a session that it has left', async (runtime) => {
    assert.equal((await runtime.rotate({ from: A, next: B }, live())).kind, 'done');
    for (const step of STEPS) {
      assert.equal(await cameTo(MAKE[step](runtime, live())), 'rejected', step);
      assert.deepEqual(await looked(runtime), AFTER.rotate, step);
    }
  }),
  whole('nothing is done to a session that it does not know', async (runtime) => {
    assert.equal(await cameTo(runtime.compact(C, live())), 'rejected');
    assert.equal(await cameTo(runtime.summarise(C, live())), 'rejected');
    assert.equal(await cameTo(runtime.rotate({ from: C, next: B }, live())), 'rejected');
    assert.equal(await cameTo(runtime.seed({ session: C, text: TEXT }, live())), 'rejected');
    assert.equal(await looked(runtime, C), null);
    assert.deepEqual(await looked(runtime), BEGUN);
  }),
  whole(
    'a rotation into a session that there is already changes nothing',
    async (runtime, { begin }) => {
      await begin(B);
      assert.equal(await cameTo(runtime.rotate({ from: A, next: B }, live())), 'rejected');
      assert.deepEqual(await looked(runtime), BEGUN);
    },
  ),
  whole('a look whose signal has ended settles', async (runtime) => {
    await settled(runtime.look(A, AbortSignal.abort()));
    assert.deepEqual(await looked(runtime), BEGUN);
  }),
  ...STEPS.map((step) =>
    whole(
      `a ${step} whose signal had ended before it settles, and looks can tell`,
      async (runtime) => {
        await settled(MAKE[step](runtime, AbortSignal.abort()));
        assert.ok(isOneOf(await looked(runtime), BEGUN, AFTER[step]));
      },
    ),
  ),
];

/** No case makes an uncertain step again: nobody may, before somebody has looked at what it did. */
const DISTURBED: readonly Case[] = [
  ...STEPS.flatMap((step) =>
    (['rejects', 'throws'] as const).flatMap((how) => [
      disturbed(
        `a ${step} that ${how} before its effect changed nothing`,
        async (runtime, disturb) => {
          disturb(step, how, 'before');
          assert.equal(await cameTo(MAKE[step](runtime, live())), CAME[how]);
          assert.deepEqual(await looked(runtime), BEGUN);
        },
      ),
      disturbed(
        `a ${step} that ${how} after its effect is seen by who looks`,
        async (runtime, disturb) => {
          disturb(step, how, 'after');
          assert.equal(await cameTo(MAKE[step](runtime, live())), CAME[how]);
          assert.deepEqual(await looked(runtime), AFTER[step]);
        },
      ),
    ]),
  ),
  ...STEPS.flatMap((step) =>
    (['before', 'after'] as const).map((when) =>
      disturbed(
        `a ${step} that hangs ${when} its effect ends with its signal`,
        async (runtime, disturb) => {
          disturb(step, 'hangs', when);
          const over = new AbortController();
          const call = MAKE[step](runtime, over.signal);
          over.abort();
          await settled(call);
          assert.ok(isOneOf(await looked(runtime), BEGUN, AFTER[step]));
        },
      ),
    ),
  ),
  disturbed('an error keeps its code', async (runtime, disturb) => {
    disturb('seed', 'throws', 'before');
    const error = await runtime.seed({ session: A, text: TEXT }, live()).then(
      () => assert.fail('it was to break'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Error && 'code' in error && typeof error.code === 'string');
    assert.match(error.code, /^[A-Za-z0-9_.-]{1,60}$/);
  }),
  ...(['before', 'after'] as const).map((when) =>
    disturbed(`a seed that broke ${when} its effect is given again`, async (runtime, disturb) => {
      disturb('seed', 'throws', when);
      assert.equal(await cameTo(MAKE.seed(runtime, live())), 'threw');
      assert.equal(await cameTo(MAKE.seed(runtime, live())), 'done');
      assert.deepEqual(await looked(runtime), AFTER.seed);
    }),
  ),
  disturbed(
    'a rotation that was said to have failed and had its effect is gone on from',
    async (runtime, disturb) => {
      disturb('rotate', 'rejects', 'after');
      assert.equal(await cameTo(MAKE.rotate(runtime, live())), 'rejected');
      assert.deepEqual(await looked(runtime), AFTER.rotate);
      assert.equal(await cameTo(runtime.seed({ session: B, text: TEXT }, live())), 'done');
      assert.deepEqual(await looked(runtime), { session: B, isSeeded: true });
    },
  ),
];

const CASES: readonly Case[] = [...WORKING, ...DISTURBED];

const CAME = { rejects: 'rejected', throws: 'threw' } as const;

function whole(
  title: string,
  run: (runtime: Runtime, opened: OpenedRuntime) => Promise<void>,
): Case {
  return { title, isDisturbed: false, run: (opened) => begun(opened, run) };
}

function disturbed(
  title: string,
  run: (runtime: Runtime, disturb: NonNullable<OpenedRuntime['disturb']>) => Promise<void>,
): Case {
  const within = (runtime: Runtime, { disturb }: OpenedRuntime): Promise<void> => {
    assert.ok(disturb !== undefined);
    return run(runtime, disturb);
  };
  return { title, isDisturbed: true, run: (opened) => begun(opened, within) };
}

async function begun(
  opened: OpenedRuntime,
  run: (runtime: Runtime, opened: OpenedRuntime) => Promise<void>,
): Promise<void> {
  await opened.begin(A);
  await run(opened.runtime, opened);
}

function live(): AbortSignal {
  return new AbortController().signal;
}

function looked(runtime: Runtime, session: SessionId = A): Promise<RuntimeState | null> {
  return runtime.look(session, live());
}

async function cameTo(call: Promise<{ readonly kind: string }>): Promise<string> {
  return call.then(
    ({ kind }) => kind,
    () => 'threw',
  );
}

/** Fails when the call has not settled in time, either way. */
async function settled(call: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => over.resolve('late'), SETTLED_MS);
  const came = await Promise.race([
    call.then(
      () => 'settled',
      () => 'settled',
    ),
    over.promise,
  ]);
  clearTimeout(timer);
  assert.equal(came, 'settled', `not settled ${SETTLED_MS} ms after its signal had ended it`);
}

function isOneOf(state: RuntimeState | null, ...allowed: readonly RuntimeState[]): boolean {
  return allowed.some(
    ({ session, isSeeded }) => state?.session === session && state.isSeeded === isSeeded,
  );
}
