// The door for programs that run a host inside themselves. Everything else is inside.
export { loadConfig, type Config, type ConfigSources } from './compose/config/load.ts';
export { ConfigBroken, problemLine, type ConfigProblem } from './compose/config/problem.ts';
export { createHost, type Host, type HostOptions, type StartedHost } from './compose/host.ts';
export { openReader, type Reader } from './compose/reader.ts';
export { MAX_RECOVERY_FAILURES } from './core/maintenance/record.ts';
