import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../kernel/limits.ts';
import { HOUR, MINUTE, SECOND } from '../../kernel/time.ts';
import {
  admit,
  afterFault,
  afterRelease,
  afterSign,
  afterSuccess,
  afterTries,
  cheapProbeAt,
  mayReturn,
  openLimiter,
  reserveCheapProbe,
  reserveProbe,
  turnsAt,
  type AccountFault,
} from './limiter.ts';
import type { LimiterRecord } from './record.ts';

const NOW = 1_800_000_000_000;
const OPEN = openLimiter('here', NOW);

function transient(retryAt: number | null = null): AccountFault {
  return { class: 'transient', code: 'http_503', retryAt };
}

function refusedBy(scope: AccountFault['scope']): AccountFault {
  return { class: 'refused', code: 'http_401', retryAt: null, ...(scope && { scope }) };
}

const CALL = { now: NOW, isProbe: false };

/** The limiter after so many failures in a row, each by the one call that was due, and when that was. */
function failing(times: number): { readonly row: LimiterRecord; readonly pauses: number[] } {
  let row = afterFault(OPEN, transient(), CALL);
  let now = NOW;
  const pauses: number[] = [];
  for (let made = 1; made < times; made += 1) {
    const due = row.until ?? 0;
    pauses.push(due - now);
    now = due;
    row = afterFault(reserveProbe(row, now), transient(), { now, isProbe: true });
  }
  return { row, pauses };
}

describe('while an account answers', () => {
  test('it is open, nothing is against it, and it waits for nothing', () => {
    const nothing = { until: null, isNamed: 'no', failures: 0, code: null, probeUntil: null };
    assert.deepEqual(OPEN, { account: 'here', state: 'open', ...nothing, version: 0, since: NOW });
    assert.equal(afterSuccess(OPEN, { now: NOW + 1, isProbe: true }), OPEN);
  });

  test('every call goes out, and a success changes nothing', () => {
    assert.deepEqual(admit(OPEN, NOW), { kind: 'go' });
    assert.equal(afterSuccess(OPEN, CALL), OPEN);
    assert.equal(mayReturn(OPEN, NOW), 'all');
    assert.equal(turnsAt(OPEN, NOW), null);
  });

  test('T-12 what is refused of a model or a request says nothing of the account', () => {
    for (const scope of ['model', 'request', undefined] as const)
      assert.equal(afterFault(OPEN, refusedBy(scope), CALL), OPEN);
    assert.equal(afterFault(OPEN, { ...transient(), class: 'aborted' }, CALL), OPEN);
  });
});

describe('a call that fails', () => {
  test('T-18 limits the account for 1 s, doubling, and after a step of tries it is down', () => {
    const { pauses } = failing(6);
    assert.deepEqual(
      pauses,
      [1, 2, 4, 8, 16].map((seconds) => seconds * SECOND),
    );
    assert.equal(failing(5).row.state, 'limited');
    assert.equal(failing(6).row.state, 'down');
  });

  test('waits for the instant that the provider named', () => {
    const row = afterFault(OPEN, transient(NOW + 30 * SECOND), CALL);
    assert.deepEqual(admit(row, NOW), { kind: 'wait', until: NOW + 30 * SECOND });
    assert.equal(row.isNamed, 'yes');
    assert.equal(mayReturn(row, NOW), 'none');
    assert.equal(turnsAt(row, NOW), NOW + 30 * SECOND);
    const past = afterFault(OPEN, transient(NOW), CALL);
    assert.deepEqual([past.until, past.isNamed], [NOW + SECOND, 'no']);
    assert.equal(turnsAt(row, NOW + 30 * SECOND), null, 'then a call has to find out');
  });

  test('T-18 is known since when it is limited, and since when it is down', () => {
    assert.deepEqual([failing(3).row.since, failing(1).row.since], [NOW, NOW]);
    const { row, pauses } = failing(6);
    assert.equal(row.since, NOW + pauses.reduce((sum, one) => sum + one, 0));
  });

  test('T-12 the last of a step’s tries sinks it, unless what was named is a quota', () => {
    const { row } = failing(5);
    const now = row.until ?? 0;
    const last = (named: number): string =>
      afterFault(reserveProbe(row, now), transient(now + named), { now, isProbe: true }).state;
    assert.equal(last(30 * SECOND), 'down');
    assert.equal(last(LIMITS.quotaParkMs), 'down');
    assert.equal(last(LIMITS.quotaParkMs + 1), 'limited');
  });

  test('T-12 with an instant more than 60 s away is a quota, however often', () => {
    const until = NOW + MINUTE + 1;
    const row = afterFault(OPEN, transient(until), CALL);
    assert.deepEqual(admit(row, NOW), { kind: 'quota', until, code: 'http_503' });
    assert.deepEqual(admit(row, NOW + 1), { kind: 'wait', until });
    assert.equal(mayReturn(row, NOW), 'none');
    const often = afterFault(
      { ...reserveProbe(row, until), failures: 20 },
      transient(until + HOUR),
      {
        now: until,
        isProbe: true,
      },
    );
    assert.equal(often.state, 'limited');
  });

  test('of a refused account stops every call for a while, then one finds out', () => {
    const row = afterFault(OPEN, refusedBy('account'), CALL);
    assert.deepEqual(admit(row, NOW), { kind: 'refused', code: 'http_401' });
    assert.equal(mayReturn(row, NOW), 'all', 'they learn it without a call');
    const cool = NOW + LIMITS.refusedCoolMs;
    assert.deepEqual(admit(row, cool), { kind: 'probe' });
    assert.equal(mayReturn(row, cool), 'one');
    assert.equal(admit(reserveProbe(row, cool), cool + 5 * SECOND).kind, 'wait');
  });

  test('and went out before the account was limited adds no failure', () => {
    const { row } = failing(3);
    assert.equal(afterFault(row, transient(), CALL), row);
    const named = afterFault(row, transient(NOW + HOUR), CALL);
    assert.deepEqual([named.until, named.isNamed, named.failures], [NOW + HOUR, 'yes', 3]);
    assert.equal(afterFault(failing(6).row, transient(NOW + HOUR), CALL).state, 'limited');
    assert.equal(afterFault(named, transient(NOW + MINUTE), CALL), named, 'an earlier one');
    const soon = afterFault(failing(1).row, transient(NOW + 30 * SECOND), CALL);
    assert.deepEqual([soon.state, soon.until], ['limited', NOW + 30 * SECOND]);
    assert.equal(afterFault(named, transient(NOW + HOUR), CALL), named, 'the same');
    const refused = afterFault(OPEN, refusedBy('account'), CALL);
    for (const isProbe of [true, false])
      assert.equal(afterFault(refused, transient(NOW + HOUR), { now: NOW, isProbe }), refused);
  });

  test('T-18 of an account that is down only a quota is news, not a short wait', () => {
    const down = afterTries(afterFault(OPEN, transient(), CALL), 'connect', NOW);
    const late = (named: number): string => afterFault(down, transient(NOW + named), CALL).state;
    assert.equal(late(LIMITS.quotaParkMs), 'down');
    assert.equal(late(LIMITS.quotaParkMs + 1), 'limited');
  });
});

describe('the one call that finds out', () => {
  const { row: limited } = failing(2);
  const due = limited.until ?? 0;
  const probed = reserveProbe(limited, due);
  const probe = { now: due + SECOND, isProbe: true };

  test('is one at a time, until its time is up', () => {
    assert.deepEqual(admit(limited, due), { kind: 'probe' });
    const end = due + LIMITS.modelCallMs;
    assert.deepEqual(admit(probed, end - 1), { kind: 'wait', until: end });
    assert.deepEqual(admit(probed, end), { kind: 'probe' });
    assert.equal(mayReturn(probed, end - 1), 'none');
  });

  test('is spent by a crash: what is reserved is what a failure leaves', () => {
    const failed = afterFault(probed, transient(), { now: due, isProbe: true });
    assert.deepEqual({ ...probed, probeUntil: null }, failed);
  });

  test('opens the account when it succeeds; no other call does while it is limited', () => {
    assert.deepEqual(afterSuccess(probed, probe), { ...OPEN, since: probe.now });
    assert.equal(afterSuccess(probed, { ...probe, isProbe: false }), probed);
    const quota = afterFault(probed, transient(due + HOUR), { ...probe, isProbe: false });
    const after = afterSuccess(quota, probe);
    assert.deepEqual(after, { ...quota, probeUntil: null }, 'what was named meanwhile is newer');
    assert.equal(afterSuccess(after, probe), after);
    const passed = { now: due + HOUR, isProbe: true };
    assert.equal(afterSuccess(quota, passed).state, 'open', 'what was named has passed');
  });

  test('is out until its own time at the most, whenever the account may be asked', () => {
    const until = due + LIMITS.modelCallMs;
    assert.deepEqual(admit({ ...probed, until: due }, due), { kind: 'wait', until });
    assert.deepEqual(admit({ ...probed, until: due }, due - 1), { kind: 'wait', until: due });
    const ahead = { ...probed, until: due, probeUntil: until + 1 };
    assert.deepEqual(admit(ahead, due), { kind: 'probe' }, 'the clock was set back since');
  });

  test('releases nothing that is not its own', () => {
    assert.equal(afterRelease(limited, probe), limited, 'no call is out');
    const down = reserveCheapProbe(afterTries(limited, 'connect', NOW), NOW);
    assert.equal(afterRelease(down, probe), down, 'the cheap probe is');
  });

  test('leaves its turn to the next when it found nothing out', () => {
    for (const row of [
      afterRelease(probed, probe),
      afterFault(probed, refusedBy('request'), probe),
    ]) {
      assert.deepEqual(admit(row, probe.now), { kind: 'probe' });
      assert.equal(row.failures, limited.failures);
    }
    assert.equal(afterRelease(probed, { ...probe, isProbe: false }), probed);
    const quota = afterFault(probed, transient(due + HOUR), { ...probe, isProbe: false });
    assert.equal(admit(afterRelease(quota, probe), probe.now).kind, 'quota');
  });
});

describe('an account that is down', () => {
  const down = afterTries(afterFault(OPEN, transient(), CALL), 'connect', NOW);

  test('T-18 is so once a step has used its tries up, and every call learns it at once', () => {
    assert.deepEqual(admit(down, NOW), { kind: 'down', code: 'connect' });
    assert.equal(afterTries(down, 'timeout', NOW), down);
    assert.equal(mayReturn(down, NOW + HOUR), 'none');
    assert.deepEqual(admit({ ...down, code: null }, NOW), { kind: 'down', code: 'unknown' });
  });

  test('T-18 is probed by its own pauses, whatever pause it was limited for', () => {
    const { row } = failing(5);
    const now = row.since;
    assert.equal(afterTries(row, 'connect', now).until, now + LIMITS.probeFirstMs);
  });

  test('T-18 a cheap probe that is out is waited for as long as it may take', () => {
    const probed = reserveCheapProbe(down, NOW);
    assert.equal(probed.probeUntil, NOW + LIMITS.probeCallMs);
    const early = { ...probed, until: NOW + 1 };
    assert.equal(cheapProbeAt(early, NOW), NOW + LIMITS.probeCallMs);
    assert.equal(turnsAt(early, NOW), NOW + LIMITS.probeCallMs);
  });

  test('is not so while a quota or a refusal is known', () => {
    for (const fault of [transient(NOW + HOUR), refusedBy('account')]) {
      const row = afterFault(OPEN, fault, CALL);
      assert.equal(afterTries(row, 'connect', NOW), row);
    }
    const named = afterTries(afterFault(OPEN, transient(NOW + MINUTE), CALL), 'http_429', NOW);
    assert.equal(cheapProbeAt(named, NOW), NOW + MINUTE, 'not before the named instant');
  });

  test('T-18 is probed after 5 s, doubling to 5 min', () => {
    let row = down;
    let now = NOW;
    const pauses: number[] = [];
    for (let probes = 0; probes < 8; probes += 1) {
      const at = cheapProbeAt(row, now);
      assert.ok(at !== null);
      pauses.push((at - now) / SECOND);
      now = at;
      row = reserveCheapProbe(row, now);
    }
    // The second pause is the time that a probe may take.
    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
    assert.equal(turnsAt(row, now), now + 5 * MINUTE);
    assert.equal(cheapProbeAt(OPEN, now), null);
  });

  test('T-18 is half open after a sign of life: one real call finds out, a failure sinks it again', () => {
    const alive = afterSign(reserveCheapProbe(down, NOW), NOW);
    assert.deepEqual(admit(alive, NOW), { kind: 'probe' });
    assert.equal(mayReturn(alive, NOW), 'one');
    const again = afterFault(reserveProbe(alive, NOW), transient(), { now: NOW, isProbe: true });
    assert.equal(again.state, 'down');
    assert.ok(
      (cheapProbeAt(again, NOW) ?? 0) > NOW + LIMITS.probeFirstMs,
      'later than the first time',
    );
    assert.equal(afterSign(OPEN, NOW), OPEN);
  });

  test('is reached when any call of it succeeds', () => {
    assert.equal(afterSuccess(down, CALL).state, 'open');
  });
});

type Act =
  | { readonly act: 'pass' | 'sign' | 'tries'; readonly ms: number }
  | { readonly act: 'end'; readonly ms: number; readonly which: number; readonly fault: Fault };
type Fault = AccountFault | 'success' | 'release';

const faults: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    'success',
    'release',
    transient(),
    refusedBy('account'),
    refusedBy('model'),
  ),
  fc.integer({ min: -HOUR, max: HOUR }).map((away) => transient(NOW + HOUR + away)),
);
const times = fc.oneof(
  fc.integer({ min: 0, max: 2 * SECOND }),
  fc.integer({ min: 0, max: 20 * MINUTE }),
);
const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({ act: fc.constantFrom('pass', 'pass', 'sign', 'tries'), ms: times }),
    fc.record({ act: fc.constant('end' as const), ms: times, which: fc.nat(9), fault: faults }),
  ),
  { maxLength: 60 },
);

/** One account, with calls in flight, as a host drives its limiter. */
class Account {
  row = OPEN;
  now = NOW;
  #probe: object | null = null;
  readonly flying: object[] = [];

  do(act: Act): void {
    this.now += act.ms;
    if ('fault' in act) this.#end(act.which, act.fault);
    else if (act.act === 'pass') this.#pass();
    else if (act.act === 'tries') this.row = afterTries(this.row, 'connect', this.now);
    else this.#sign();
  }

  #pass(): void {
    const admission = admit(this.row, this.now);
    const call = {};
    if (admission.kind === 'probe') {
      const isOut = this.#probe !== null && this.now < (this.row.probeUntil ?? 0);
      assert.ok(!isOut, 'never two at a time');
      this.row = reserveProbe(this.row, this.now);
      this.#probe = call;
    } else if (admission.kind !== 'go') return;
    else assert.equal(this.row.state, 'open');
    this.flying.push(call);
  }

  #sign(): void {
    const at = cheapProbeAt(this.row, this.now);
    if (at === null || at > this.now) return;
    this.row = afterSign(reserveCheapProbe(this.row, this.now), this.now);
  }

  #end(which: number, fault: Fault): void {
    const [call] = this.flying.splice(which % Math.max(this.flying.length, 1), 1);
    if (call === undefined) return;
    const heard = { now: this.now, isProbe: call === this.#probe };
    if (heard.isProbe) this.#probe = null;
    if (fault === 'success') this.row = afterSuccess(this.row, heard);
    else if (fault === 'release') this.row = afterRelease(this.row, heard);
    else this.row = afterFault(this.row, fault, heard);
  }
}

/** When the account can be called or probed again though nothing is heard any more. */
function wayOut(row: LimiterRecord, from: number): number {
  let now = from;
  for (let looks = 0; looks < 5; looks += 1) {
    const admission = admit(row, now);
    if (admission.kind === 'go' || admission.kind === 'probe') return now;
    if (admission.kind === 'wait' || admission.kind === 'quota') now = admission.until;
    else if (row.state === 'down') return cheapProbeAt(row, now) ?? NaN;
    else now = turnsAt(row, now) ?? NaN;
  }
  return NaN;
}

describe('whatever happens to an account', () => {
  test('at most one call finds out at a time, an open one has nothing against it, and there is a way out', () => {
    fc.assert(
      fc.property(acts, (all) => {
        const account = new Account();
        for (const act of all) {
          account.do(act);
          const { row, now } = account;
          assert.equal(row.version, 0, 'its version is the committer’s');
          if (row.state === 'open') assert.deepEqual({ ...row, since: 0 }, { ...OPEN, since: 0 });
          const named = row.isNamed === 'yes' ? (row.until ?? 0) : 0;
          const latest = Math.max(named, now + LIMITS.probeMaxMs) + LIMITS.modelCallMs;
          assert.ok(wayOut(row, now) <= latest, JSON.stringify(row));
        }
      }),
    );
  });

  test('a wall clock that is set back leaves nobody waiting for longer than we ever wait', () => {
    fc.assert(
      fc.property(acts, fc.integer({ min: 0, max: 1_000 * HOUR }), (all, back) => {
        const account = new Account();
        for (const act of all) account.do(act);
        const now = account.now - back;
        if (account.row.isNamed === 'yes') return;
        assert.ok(wayOut(account.row, now) <= now + LIMITS.probeMaxMs + LIMITS.modelCallMs);
      }),
    );
  });
});
