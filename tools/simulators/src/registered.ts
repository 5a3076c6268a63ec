import type { RegisteredPartner, Registry } from '@clinical-launch/contracts/registry';
import { demoSecret, hasDemoSecret } from '@clinical-launch/trust/production-registry';

/** A client that everybody may use, because everybody knows its secret. */
type DemoClient = {
  readonly clientId: string;
  readonly name: string;
  readonly secret: string;
  readonly realm: string;
  readonly rights: string;
};

/** Returns the clients that have the demo secret. The registry contains only hashes of other secrets. */
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
