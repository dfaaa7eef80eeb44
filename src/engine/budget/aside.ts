import type { Model } from '../../ports/model.ts';

/**
 * A model under an account of its own: that its calls fail limits nobody else, and what others cannot reach
 * it finds out for itself.
 */
export function asideOf(model: Model): Model {
  const { provider, name, price, rates, contextWindow } = model;
  return {
    provider,
    name,
    price,
    rates,
    contextWindow,
    account: asideAccount(model.account),
    probe: (signal) => model.probe(signal),
    call: (request, live) => model.call(request, live),
  };
}

/** The account of its calls aside. */
export function asideAccount(account: string): string {
  return `assessment ${account}`;
}
