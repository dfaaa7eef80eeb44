import { LIMITS } from '../../kernel/limits.ts';
import type { Model } from '../../ports/model.ts';
import { modelsOf, standingLimiters } from '../budget/standing.ts';
import type { EngineParts, Finding } from '../engine.ts';
import { finding, type FindingCode } from './findings.ts';
import type { Patient } from './patient.ts';

interface Asked {
  readonly model: Model;
  readonly uses: Set<string>;
}

/** Asks every configured model for a cheap sign of life, all at once; no attempt and no call. */
export async function findModels({ parts, modelsFault }: Patient): Promise<readonly Finding[]> {
  if (modelsFault !== undefined) return [finding('models_unknown', { detail: modelsFault })];
  return Promise.all(modelsIn(parts).map((asked) => findModel(parts, asked)));
}

/** Each model once, whoever asks it. */
function modelsIn({ agents, models, ...serving }: EngineParts): readonly Asked[] {
  const asked = new Map<string, Asked>();
  const note = (use: string, model: Model): void => {
    const key = JSON.stringify([model.account, model.name]);
    const known = asked.get(key) ?? { model, uses: new Set<string>() };
    asked.set(key, known);
    known.uses.add(use);
  };
  for (const { model, fallbacks } of agents)
    for (const one of [model, ...fallbacks]) note('turns', one);
  for (const one of models) note('turns', one);
  note('classifier', serving.classifier);
  note('assessment', serving.assessment);
  note('summary', serving.summary);
  return [...asked.values()];
}

async function findModel({ clock }: EngineParts, { model, uses }: Asked): Promise<Finding> {
  const name = `${model.provider}/${model.name}`;
  const about = { model: name, uses: [...uses] };
  const over = new AbortController();
  const began = clock.uptime();
  const late = clock.sleep(LIMITS.probeCallMs, over.signal).then(() => 'unreachable' as const);
  const sign = await Promise.race([model.probe(over.signal), late]);
  const tookMs = Math.round(clock.uptime() - began);
  over.abort();
  return sign === 'alive'
    ? finding('model_alive', { ...about, tookMs }, name)
    : finding('model_unreachable', about, name);
}

const ACCOUNT_CODES: Readonly<Record<string, FindingCode>> = {
  limited: 'account_limited',
  down: 'account_down',
  refused: 'account_refused',
};

/** Accounts that cannot be asked freely now (T-18). */
export function findAccounts({ parts, health }: Patient): Promise<readonly Finding[]> {
  const standing = standingLimiters(parts, health.limiters, parts.clock.now());
  const found = standing.flatMap(({ account, state, code: detail, until, since }) => {
    const code = ACCOUNT_CODES[state];
    const models = [...modelsOf(parts, account)];
    return code === undefined ? [] : [finding(code, { models, until, detail, since }, account)];
  });
  return Promise.resolve(found);
}
