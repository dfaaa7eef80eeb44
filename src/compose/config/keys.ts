import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { USD } from '../../kernel/money.ts';
import { DAY, HOUR, SECOND } from '../../kernel/time.ts';
import {
  agentName,
  anAgent,
  apiKey,
  CONTEXT_WINDOW,
  contextWindow,
  duration,
  httpUrl,
  MODEL_VALUES,
  modelName,
  otherModel,
  SECRET_VALUES,
  secretSource,
  timeoutSeconds,
  timeZone,
  words,
} from './values.ts';

/** One key of the configuration: what it takes, where else it comes from, and what it is for. */
export interface ConfigKey<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  /** The allowed values, in words. */
  readonly values: string;
  /** The default as it would be written; undefined when there is none. */
  readonly initial?: unknown;
  readonly about: string;
  readonly env?: string;
  /** `path`: relative to the file that names it. `number`: read as one from the environment. */
  readonly reads?: 'path' | 'number';
  /** The names that an entry of a list or a map may have, for suggestions. */
  readonly fields?: readonly string[];
  /** Which of them are paths, relative to the file that names them. */
  readonly pathFields?: readonly string[];
  /** May hold a password: an error does not repeat it, and `config show` masks it. */
  readonly hidden?: true;
  /** The feature is not built yet: only its default, or `off`, is accepted. */
  readonly later?: true;
}

function key<S extends z.ZodType>(row: ConfigKey<S>): ConfigKey<S> {
  return row;
}

function choice<const V extends readonly string[]>(
  values: V,
  row: Omit<ConfigKey, 'schema' | 'values'>,
): ConfigKey<z.ZodEnum<{ [K in V[number]]: K }>> {
  return { schema: z.enum(values), values: values.join(' | '), ...row };
}

function whole(
  min: number,
  max: number,
  row: Omit<ConfigKey, 'schema' | 'values'>,
): ConfigKey<z.ZodInt> {
  const values = `a whole number from ${min} to ${max}`;
  return { schema: z.int().min(min).max(max), values, ...row };
}

function amount(
  min: number,
  max: number,
  row: Omit<ConfigKey, 'schema' | 'values'>,
): ConfigKey<z.ZodNumber> {
  return { schema: z.number().min(min).max(max), values: `a number from ${min} to ${max}`, ...row };
}

function yes(row: Omit<ConfigKey, 'schema' | 'values'>): ConfigKey<z.ZodBoolean> {
  return { schema: z.boolean(), values: 'true | false', ...row };
}

function path(row: Omit<ConfigKey, 'schema' | 'values' | 'reads'>): ConfigKey<z.ZodString> {
  return { schema: z.string().min(1), values: 'a path', reads: 'path', ...row };
}

function later(values: string, about: string, initial?: unknown): ConfigKey<z.ZodUnknown> {
  return { schema: z.unknown(), values, about, later: true, initial };
}

const COUNT_MAX = 1_000_000_000;
const SECONDS_MAX = DAY / SECOND;
const MODEL_FIELDS = [
  'provider',
  'baseURL',
  'name',
  'apiKey',
  'env',
  'file',
  'contextWindow',
  'timeoutSeconds',
  'price',
  'input',
  'output',
];

/** Every key of `sekisho.yaml`. The schema, the errors, `sekisho config keys` and the docs read it. */
export const CONFIG_KEYS = {
  data: path({ initial: './data', env: 'SEKISHO_DATA', about: 'The state directory.' }),
  store: key({
    schema: z.string().regex(/^sqlite$|^postgres(?:ql)?:\/\/./),
    values: 'sqlite | postgres://…',
    initial: 'sqlite',
    env: 'SEKISHO_STORE',
    hidden: true,
    about: 'Where records are kept: one file in the state directory, or a PostgreSQL database.',
  }),
  locale: choice(['en', 'de'], { initial: 'en', about: 'The language of notices and answers.' }),

  'api.host': key({
    schema: z.string().min(1),
    values: 'an address of this machine',
    initial: '127.0.0.1',
    env: 'SEKISHO_HOST',
    about: 'Where the API listens; beyond loopback it needs api.keys and TLS or api.behindProxy.',
  }),
  'api.port': whole(0, 65_535, {
    initial: 7420,
    env: 'SEKISHO_PORT',
    reads: 'number',
    about: 'The port of the API; 0 picks a free one.',
  }),
  'api.tls.keyFile': path({
    env: 'API_SERVER_TLS_KEY_FILE',
    about: 'The private key for HTTPS, as PEM; together with api.tls.certFile.',
  }),
  'api.tls.certFile': path({
    env: 'API_SERVER_TLS_CERT_FILE',
    about: 'The certificate for HTTPS, as PEM; together with api.tls.keyFile.',
  }),
  'api.keys': key({
    schema: z.array(apiKey),
    values: `a list of { name, scopes: [run, read, admin], secret: ${SECRET_VALUES} }`,
    initial: [],
    hidden: true,
    fields: ['name', 'scopes', 'secret', 'env', 'file'],
    about: 'Who may use the API. With none the host makes one key and keeps it in DATA/api-key.',
  }),
  'api.behindProxy': yes({
    initial: false,
    about: 'A proxy in front ends TLS: the API may listen beyond loopback without its own.',
  }),

  'model.provider': key({
    schema: z.string().min(1),
    values: 'openai | anthropic | openai-compatible | rehearsal; google is not built yet',
    about: 'Who answers. Without one the host takes the first model that it finds.',
  }),
  'model.baseURL': key({
    schema: httpUrl,
    values: 'an http or https URL without a user name and a query',
    hidden: true,
    about: 'Where the server answers; only openai-compatible has no address of its own.',
  }),
  'model.name': key({
    schema: modelName,
    values: 'the name that the provider gives the model',
    about: 'Which of the models of the provider.',
  }),
  'model.apiKey': key({
    schema: secretSource,
    values: SECRET_VALUES,
    hidden: true,
    fields: ['env', 'file'],
    about: 'The key for the provider.',
  }),
  'model.contextWindow': key({
    schema: contextWindow,
    values: 'a whole number from 1000 to 100000000',
    initial: CONTEXT_WINDOW,
    about: 'How many tokens the model takes in one request.',
  }),
  'model.timeoutSeconds': key({
    schema: timeoutSeconds,
    values: `a whole number from 1 to ${SECONDS_MAX}`,
    initial: LIMITS.modelFirstTokenMs / SECOND,
    about: 'How long a model call may stay without its first token.',
  }),
  'model.fallbacks': key({
    schema: z.array(otherModel),
    values: `a list of ${MODEL_VALUES}`,
    initial: [],
    hidden: true,
    fields: MODEL_FIELDS,
    about: 'Further models, asked in this order when the first cannot answer.',
  }),
  'model.price.input': amount(0, 1_000_000, { about: 'US dollars per million input tokens.' }),
  'model.price.output': amount(0, 1_000_000, { about: 'US dollars per million output tokens.' }),
  'models.assessment': key({
    schema: otherModel,
    values: MODEL_VALUES,
    hidden: true,
    fields: MODEL_FIELDS,
    about: 'The model that judges whether interrupted work may go on; without one the first model.',
  }),
  'models.classifier': key({
    schema: otherModel,
    values: MODEL_VALUES,
    hidden: true,
    fields: MODEL_FIELDS,
    about: 'The model that assigns messages to tasks; without one it is the first model.',
  }),
  'models.summary': key({
    schema: otherModel,
    values: MODEL_VALUES,
    hidden: true,
    fields: MODEL_FIELDS,
    about: 'The model that sums up what outgrows the window; without one the first model.',
  }),
  'models.completion': later('a model', 'The model of the completion check.'),

  workspace: path({ initial: './workspace', about: 'The folder that the tools work in.' }),
  'agent.name': key({
    schema: agentName,
    values: 'a name of at most 64 characters',
    initial: 'Sekisho',
    about: 'What the agent calls itself.',
  }),
  'agent.instructions': path({
    initial: './AGENT.md',
    about: 'The standing instructions of the agent, read again at each turn.',
  }),
  agents: key({
    schema: z.array(anAgent),
    values: `a list of { name, instructions, workspace, model: ${MODEL_VALUES} }`,
    initial: [],
    hidden: true,
    fields: ['name', 'instructions', 'workspace', 'model', 'fallbacks', 'memory', ...MODEL_FIELDS],
    pathFields: ['instructions', 'workspace'],
    about: 'Several agents on one host, in the place of agent; the first one is the default.',
  }),

  'limits.turns': whole(1, COUNT_MAX, {
    initial: LIMITS.turnsPerTask,
    about: 'Turns that a task may take.',
  }),
  'limits.tokens': whole(1, Number.MAX_SAFE_INTEGER, {
    initial: LIMITS.tokensPerTask,
    about: 'Tokens that a task may use.',
  }),
  'limits.costUsd': amount(0, 1_000_000, {
    initial: LIMITS.costPerTaskMicroUsd / USD,
    about: 'US dollars that a task may cost, where the prices of its models are known.',
  }),
  'limits.continuations': whole(0, COUNT_MAX, {
    initial: LIMITS.continuationsPerTask,
    about: 'How often a task may continue itself.',
  }),
  'limits.deadline': key({
    schema: duration,
    values: 'a duration as in 90s, 30m, 12h, 7d; or off',
    initial: `${LIMITS.taskDeadlineMs / DAY}d`,
    about: 'How long a task may stay open.',
  }),
  'limits.concurrentConversations': whole(1, 1000, {
    initial: LIMITS.concurrentConversations,
    about: 'Conversations that are worked on at the same time.',
  }),
  'limits.concurrentWorkers': later('a whole number', 'Workers that run at the same time.', 4),
  'limits.selfStartedDaily.tokens': later(
    'a whole number',
    'Tokens a day for work that nobody asked for.',
    1_000_000,
  ),
  'limits.selfStartedDaily.costUsd': later(
    'a number',
    'US dollars a day for work that nobody asked for.',
    5,
  ),

  'home.channel': later('a channel', 'Where notices go that have no conversation.'),
  'home.address': later('an address', 'The address on that channel.'),
  'notices.recoveryDiagnostics': yes({
    initial: false,
    about: 'Tell each attempt of an assessment that failed, and what goes on by itself.',
  }),
  'notices.retries': later('true | false', 'Tell each retry.', false),

  'recovery.safeMode': yes({
    initial: true,
    about: 'After three unclean starts within ten minutes start nothing by itself for an hour.',
  }),
  'recovery.spacingSeconds': amount(0.1, SECONDS_MAX, {
    initial: LIMITS.recoverySpacingMs / SECOND,
    about: 'The least time from one assessment of a task to its next.',
  }),
  'recovery.callTimeoutSeconds': amount(0.1, LIMITS.modelCallMs / SECOND, {
    initial: LIMITS.recoveryCallMs / SECOND,
    about: 'How long one assessment may take.',
  }),
  'maintenance.startAt': amount(0.1, 0.95, {
    initial: LIMITS.maintenanceStartAt,
    about: 'The share of the context window in use from which on a conversation is shortened.',
  }),
  'maintenance.firstDelaySeconds': amount(0.1, SECONDS_MAX, {
    initial: LIMITS.maintenanceFirstDelayMs / SECOND,
    about: 'The pause after a first failure of it; it doubles with each further one.',
  }),
  'maintenance.maxDelaySeconds': amount(0.1, SECONDS_MAX, {
    initial: LIMITS.maintenanceMaxDelayMs / SECOND,
    about: 'The longest pause between two tries; at least maintenance.firstDelaySeconds.',
  }),
  'completionCheck.provider': later('llm-judge | off | command', 'Who judges it.', 'llm-judge'),
  'completionCheck.furtherTurns': later('a whole number', 'Turns after an "incomplete".', 2),
  'completionCheck.undecidable': later('end | block', 'What "undecidable" leads to.', 'end'),

  'tools.command.approval': choice(['always', 'unsandboxed', 'never'], {
    initial: 'unsandboxed',
    about: 'When a command waits for a person; unsandboxed: where the machine has no sandbox.',
  }),
  'tools.command.allow': key({
    schema: z.array(words),
    values: 'a list of the first words of commands as in [git, status]',
    initial: [],
    about: 'Commands that begin with exactly these words need no approval.',
  }),
  'tools.command.approver': choice(['any', 'other'], {
    initial: 'any',
    about: 'Who may approve; other: never the person who asked.',
  }),
  'tools.command.timeoutSeconds': whole(1, LIMITS.toolCommandMsMax / SECOND, {
    initial: LIMITS.toolCommandMs / SECOND,
    about: 'How long a command may run unless the call says otherwise.',
  }),
  'tools.fetch.allow': key({
    schema: z.array(z.string().min(1)),
    values: 'a list of host names and addresses',
    initial: [],
    about: 'Hosts that fetch may reach although they are private addresses.',
  }),
  'tools.approvalHours': amount(0.001, 8784, {
    initial: LIMITS.approvalMs / HOUR,
    about: 'How long an approval stays open; then the answer is no.',
  }),

  whileBusy: choice(['steer', 'wait', 'interrupt', 'collect'], {
    initial: 'steer',
    about: 'What a message meets that arrives while a turn runs.',
  }),
  timeZone: key({
    schema: timeZone,
    values: 'a zone of the tz database as in Europe/Berlin',
    about: "Whose midnight it is; default: the machine's.",
  }),
  channels: later('a map of channels', 'Slack, Telegram, Discord, webhooks.', {}),
  plugins: later('a list of plugins', 'Packages that add channels, tools and runtimes.', []),
  'mcp.servers': later('a map of servers', 'MCP servers whose tools the agent gets.', {}),
  'memory.enabled': later('true | false', 'Keep memories across conversations.', true),
  'skills.enabled': later('true | false', 'Learn skills.', true),
  'skills.failureBackoffLimit': later('a whole number', 'Failures that pause a skill.', 3),

  'lease.seconds': whole(2, 3600, {
    initial: LIMITS.leaseMs / SECOND,
    about: 'How long a host counts as alive after its last renewal.',
  }),
  'lease.renewSeconds': whole(1, 3600, {
    initial: LIMITS.leaseRenewMs / SECOND,
    about: 'How often a host renews it; less than lease.seconds.',
  }),
  'tick.seconds': whole(1, 3600, {
    about: 'How often the host looks for due work without a hint; default 30, or 5 on PostgreSQL.',
  }),
  'drain.graceSeconds': whole(0, 3600, {
    initial: LIMITS.drainGraceMs / SECOND,
    about: 'How long running turns may go on after a signal.',
  }),
} as const satisfies Record<string, ConfigKey>;

export type ConfigName = keyof typeof CONFIG_KEYS;

/** A key that has a default always has a value; the others may lack one. */
type ValueOf<K extends ConfigName> =
  | z.output<(typeof CONFIG_KEYS)[K]['schema']>
  | (K extends OptionalName ? undefined : never);

type OptionalName =
  | `api.tls.${string}`
  | `model.${'provider' | 'baseURL' | 'name' | 'apiKey' | `price.${string}`}`
  | 'models.assessment'
  | 'models.classifier'
  | 'models.summary'
  | 'timeZone'
  | 'tick.seconds';

export type ConfigValues = { readonly [K in ConfigName]: ValueOf<K> };

export function isConfigName(name: string): name is ConfigName {
  return Object.hasOwn(CONFIG_KEYS, name);
}

export const CONFIG_NAMES = Object.keys(CONFIG_KEYS).filter(isConfigName);

/** The row of a key, without what is special about it. */
export function rowOf(name: ConfigName): ConfigKey {
  return CONFIG_KEYS[name];
}
