import { readFileSync } from 'node:fs';
import { Fault } from '../kernel/fault.ts';
import type { ConfigValues } from './config/keys.ts';

/** The PEM texts of the configured files, or nothing. Throws a `Fault` that names the file. */
export function readTls(values: ConfigValues): {
  readonly tls?: { readonly key: string; readonly cert: string };
} {
  const key = values['api.tls.keyFile'];
  const cert = values['api.tls.certFile'];
  if (key === undefined || cert === undefined) return {};
  return { tls: { key: readPem(key), cert: readPem(cert) } };
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('bad_tls', 'stop', `the TLS file ${path} cannot be read`, { cause: error });
  }
}
