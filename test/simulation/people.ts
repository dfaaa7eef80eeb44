// Who speaks to the host, and with what authority.
import type { Principal } from '../../src/kernel/principal.ts';
import type { Random } from '../../src/testing/sim-random.ts';

export const PERSON: Principal = { kind: 'member', id: 'person', isAdmin: false };
export const GUEST: Principal = { kind: 'guest', id: 'guest', isAdmin: false };
export const ADMIN: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };
/** For what the terminal's admin may not answer: an own approval that wants another person (E-6). */
export const SECOND_ADMIN: Principal = { kind: 'admin', id: 'second', isAdmin: true };

/** Mostly the person whose conversations these are. */
export function someone(random: Random): Principal {
  return random.pick([PERSON, PERSON, PERSON, GUEST, ADMIN]);
}

/** Whether a record's name is an admin's: every admin of the simulation is of that kind. */
export function isAdminName(name: string): boolean {
  return name.startsWith('admin:');
}
