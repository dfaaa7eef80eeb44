import type { HostId } from './ids.ts';

/** Who asks. Authority comes from a verified identity alone; text never changes it. */
export interface Principal {
  readonly kind: 'admin' | 'member' | 'guest' | 'key' | 'host' | 'model';
  /** The verified identity: a key's name, a channel user's id, a host's id. */
  readonly id: string;
  /** Whether this identity holds admin authority: the terminal's, or a key with the scope `admin`. */
  readonly isAdmin: boolean;
}

/** How a record names a principal: `key:ops`, `admin:terminal`, `host:host_…`. */
export function principalName(principal: Principal): string {
  return `${principal.kind}:${principal.id}`;
}

/** How a record names the host itself. */
export function hostName(hostId: HostId): string {
  return `host:${hostId}`;
}
