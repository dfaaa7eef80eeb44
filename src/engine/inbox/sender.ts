import type { MessageRecord } from '../../core/inbox/record.ts';
import { principalName, type Principal } from '../../kernel/principal.ts';

/** The principal whose verified identity the message was accepted with. */
export function senderOf(message: MessageRecord): Principal {
  const colon = message.principal.indexOf(':');
  const kind = message.principal.slice(0, colon) as Principal['kind'];
  const principal = {
    kind,
    id: message.principal.slice(colon + 1),
    isAdmin: message.authority === 'admin',
  };
  return principalName(principal) === message.principal
    ? principal
    : { ...principal, isAdmin: false };
}
