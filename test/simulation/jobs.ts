// What a thread can be asked to do.
import { DEFECTS } from './defects.ts';
import { drillOne, type Drilled } from './drill.ts';
import { enumerate, enumerateTwice, type Enumeration, type TwiceOrder } from './enumerate.ts';
import { playSeeds, type SeedSet } from './many.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Sometime } from './sometimes.ts';

/** A set of seeds on its way between threads. */
export type Part = Omit<SeedSet, 'sometimes'> & {
  readonly sometimes: readonly (readonly [Sometime, number])[];
};

interface Job<Order, Result> {
  readonly order: Order;
  readonly result: Result;
}

/** By name; scenarios and defects are named by their place in their list. */
export interface Jobs {
  readonly seeds: Job<{ readonly from: number; readonly seeds: number }, Part>;
  readonly scenario: Job<{ readonly scenario: number; readonly every?: number }, Enumeration>;
  readonly twice: Job<{ readonly scenario: number } & TwiceOrder, Enumeration>;
  readonly defect: Job<{ readonly defect: number }, Drilled>;
}
export type JobName = keyof Jobs;

export const JOBS: {
  readonly [N in JobName]: (order: Jobs[N]['order']) => Promise<Jobs[N]['result']>;
} = {
  seeds: async (order) => {
    const set = await playSeeds(order);
    return { ...set, sometimes: [...set.sometimes.counts] };
  },
  scenario: ({ scenario, every }) => enumerate(placed(SCENARIOS, scenario), every),
  twice: ({ scenario, ...order }) => enumerateTwice(placed(SCENARIOS, scenario), order),
  defect: ({ defect }) => drillOne(placed(DEFECTS, defect)),
};

export function placed<T>(list: readonly T[], place: number): T {
  const found = list[place];
  if (found === undefined) throw new RangeError(`there are ${list.length}, and none is ${place}`);
  return found;
}
