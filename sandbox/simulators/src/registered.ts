import type { RegisteredPartner, Registry } from '@clinical-launch/contracts/registry';
import { demoSecret, hasDemoSecret } from '@clinical-launch/trust/production-registry';

/** A client that everybody may use, because its secret is publicly known. */
type DemoClient = {
  readonly clientId: string;
  readonly name: string;
  readonly secret: string;
  readonly realm: string;
  readonly rights: string;
};

/**
 * Returns the clients with a publicly known secret. The secrets of other clients are not available, because
 * the registry contains only their hashes.
 */
export function demoClients({ realms }: Registry): readonly DemoClient[] {
  return realms.flatMap(({ realm, clients }) =>
    clients.filter(hasDemoSecret).map(({ clientId, name, scopes }) => {
      const rights = scopes.join(', ') || 'none';
      return { clientId, name, secret: demoSecret(clientId), realm, rights };
    }),
  );
}

/** Returns the partner applications that the host application of the demo can open. */
export const partnersOf = ({ realms }: Registry): readonly RegisteredPartner[] =>
  realms.find(({ realm }) => realm === 'demo/desktop')?.desktop?.partners ?? [];
