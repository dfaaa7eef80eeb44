// A gate over the store of a test installation, and what its callers do.
import assert from 'node:assert/strict';
import { Gate, type Passage } from '../../src/engine/budget/gate.ts';
import type { Model, ModelFault } from '../../src/ports/model.ts';
import type { Installation, GivenParts } from '../support/host.ts';
import { pass } from '../support/acts.ts';

export interface GateStage {
  readonly gate: Gate;
  readonly faults: unknown[];
  trusted: boolean;
}

export function gateOf(place: Installation, given: GivenParts = {}): GateStage {
  const faults: unknown[] = [];
  const stage: { gate?: Gate; trusted: boolean } = { trusted: true };
  const gate = new Gate({
    parts: place.parts(given),
    mayProbe: () => stage.trusted,
    onChange: () => {},
    onFault: (error) => faults.push(error),
  });
  return Object.assign(stage, { gate, faults });
}

export function fault(code: string, given: Partial<ModelFault> = {}): ModelFault {
  return {
    kind: 'fault',
    class: 'transient',
    code,
    message: 'the provider said no',
    retryAt: null,
    usage: null,
    ...given,
  };
}

/** Whose account it is: an installation, or a model of a test's own. */
export interface Asking {
  readonly model: Model;
}

export const IDLE = new AbortController().signal;

/** What a caller was answered, if it was. */
export interface Asked {
  readonly passage: () => Passage | undefined;
  readonly answered: Promise<Passage>;
  readonly abort: () => void;
}

/** Asks for a passage and lets everything go on that can. */
export async function ask(gate: Gate, place: Asking): Promise<Asked> {
  const controller = new AbortController();
  let got: Passage | undefined;
  const answered = gate.pass(place.model, controller.signal).then((passage) => {
    got = passage;
    return passage;
  });
  await pass(4);
  return { passage: () => got, answered, abort: () => controller.abort() };
}

export async function kindsOf(asked: readonly Asked[]): Promise<readonly (string | undefined)[]> {
  await pass(4);
  return asked.map(({ passage }) => {
    const got = passage();
    return got?.kind === 'go' && got.probe ? 'probe' : got?.kind;
  });
}

export function gotOf(asked: Asked): Passage {
  const got = asked.passage();
  assert.ok(got !== undefined, 'it was answered');
  return got;
}

/** Limits the account by one failed call. */
export async function limit(
  gate: Gate,
  place: Asking,
  given: Partial<ModelFault> = {},
): Promise<void> {
  const passage = await gate.pass(place.model, IDLE);
  await gate.failed(place.model, fault('http_503', given), passage);
}

/** The account is down: a step has used its tries up. */
export async function sink(gate: Gate, place: Asking): Promise<void> {
  await limit(gate, place);
  await gate.exhausted(place.model, 'connect');
}
