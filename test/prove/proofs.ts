// All proofs, in the order in which they run: the quickest to say no come first.
import { clockJumps } from './clock-jumps.ts';
import { diskFull } from './disk-full.ts';
import { doubleCrash } from './double-crash.ts';
import { drill } from './drill.ts';
import { freezes } from './freezes.ts';
import { kills } from './kills.ts';
import { postgresFaults } from './postgres-faults.ts';
import { postgresKills } from './postgres-kills.ts';
import type { Proof } from './proof.ts';
import { readOnly } from './read-only.ts';
import { ioErrors } from './io-errors.ts';
import { powerCuts } from './power-cuts.ts';
import { seeds } from './seeds.ts';
import { singleCrash } from './single-crash.ts';
import { syscallKills } from './syscalls.ts';
import { standby } from './standby.ts';

export const PROOFS: readonly Proof[] = [
  singleCrash,
  doubleCrash,
  drill,
  seeds,
  readOnly,
  diskFull,
  clockJumps,
  kills,
  standby,
  freezes,
  postgresFaults,
  postgresKills,
  powerCuts,
  syscallKills,
  ioErrors,
];
