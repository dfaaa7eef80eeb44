// Where a fetch goes: the URL is parsed once, its name resolved once, and what was checked is what
// is connected to.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { LIMITS } from '../../kernel/limits.ts';
import { isPublicAddress } from './address.ts';
import { ToolProblem } from './tool-problem.ts';
import { codeOf } from './workspace-path.ts';

export interface Resolved {
  readonly address: string;
  readonly family: 4 | 6;
}

export interface FetchOptions {
  /** Hosts that may lie anywhere: `host`, `host:port`, an address, each exactly as a URL names it. */
  readonly allow: readonly string[];
  /** All addresses of a name. Rejects when it has none. */
  readonly resolve: (name: string) => Promise<readonly Resolved[]>;
  readonly isPublic: (address: string) => boolean;
}

export const FETCH_OPTIONS: FetchOptions = {
  allow: [],
  resolve: async (name) =>
    (await lookup(name, { all: true })).map(({ address, family }) => ({
      address,
      family: family === 6 ? 6 : 4,
    })),
  isPublic: isPublicAddress,
};

export interface Target {
  readonly url: URL;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** The only ones that may be connected to. */
  readonly addresses: readonly Resolved[];
}

/** Names that lead into a net of one's own, or to a machine's keeper, whatever they resolve to. */
const INNER_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|onion|test|example|invalid)$/;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
/** Below are the ports of services that are no web sites. */
const FREE_PORTS_FROM = 1_024;

/** Parses the text of a URL. Throws `ToolProblem` for one that is never fetched. */
export function parseUrl(text: string, base?: URL): URL {
  if (text.length > LIMITS.fetchUrlCharsMax) {
    throw refused(`the URL is over ${LIMITS.fetchUrlCharsMax} characters`);
  }
  if (/[\p{Cc}\p{Cf}\p{Zs}\\]/u.test(text))
    throw refused('the URL has a character that belongs into none');
  const url = URL.parse(text, base?.href);
  const wrong = url === null ? 'this is no URL' : wrongWith(url);
  if (url === null || wrong !== undefined) throw refused(wrong ?? '');
  return url;
}

function wrongWith(url: URL): string | undefined {
  if (!['http:', 'https:'].includes(url.protocol)) return 'only http and https are fetched';
  return url.username === '' && url.password === ''
    ? undefined
    : 'a URL with a user name or password is not fetched';
}

/** Finds out where a URL leads. Throws `ToolProblem` when that is not public and not allowed by name. */
export async function targetOf(url: URL, options: FetchOptions): Promise<Target> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const isAllowed = isAllowedHost({ host, port }, options.allow);
  if (!isAllowed) refuseByText(host, port);
  const addresses = await addressesOf(host, options);
  if (!isAllowed && !addresses.every(({ address }) => options.isPublic(address))) {
    throw notPublic();
  }
  return { url, host, port, addresses };
}

function isAllowedHost(
  wanted: { readonly host: string; readonly port: number },
  allow: readonly string[],
): boolean {
  return allow.some((entry) => {
    const isBareIpv6 = isIP(entry) === 6;
    const [, name = '', port] = isBareIpv6
      ? [entry, `[${entry}]`, undefined]
      : (/^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? []);
    const url = `http://${name}/`;
    const host = name === '' ? undefined : URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, '$1');
    return host === wanted.host && (port === undefined || Number(port) === wanted.port);
  });
}

function refuseByText(host: string, port: number): void {
  if (port < FREE_PORTS_FROM && !WEB_PORTS.has(port)) throw refused('this port is no web site’s');
  if (isIP(host) !== 0) return;
  const name = host.replace(/\.$/, '');
  if (!name.includes('.') || INNER_NAMES.test(name)) throw notPublic();
}

async function addressesOf(host: string, options: FetchOptions): Promise<readonly Resolved[]> {
  const version = isIP(host);
  if (version !== 0) return [{ address: host, family: version === 6 ? 6 : 4 }];
  const addresses = await options.resolve(host).catch((error: unknown) => {
    const isUnknown = codeOf(error) === 'ENOTFOUND';
    throw isUnknown
      ? new ToolProblem('not_found', 'no such host')
      : new ToolProblem('failed', 'the name of the host could not be resolved');
  });
  if (addresses.length === 0) throw new ToolProblem('not_found', 'no such host');
  return addresses;
}

function notPublic(): ToolProblem {
  return refused('the host is not on the public net, and it is not allowed by name');
}

function refused(why: string): ToolProblem {
  return new ToolProblem('refused', why);
}
