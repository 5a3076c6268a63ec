import type { Registry } from '@clinical-launch/contracts/registry';
import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { KeyRing } from './keys/key-ring.ts';

/** An expiring credential: its kind, its owner, and its expiry in milliseconds since 1970. */
type Ending = { readonly kind: string; readonly owner: string; readonly at: number };

/**
 * Observes the expiry of the registry's secrets and the due date of signing keys. For a client, reports the
 * latest expiry, and only if each of its secrets has an expiry. An old secret that expires after a rotation
 * does no harm.
 */
export function observeExpiries({ registry, keyRing }: { registry: RegistrySource; keyRing: KeyRing }): void {
  const meter = getMeter();
  const expiry = meter.createObservableGauge('clinical_launch.credential.expiry', {
    description:
      'When the last secret of a client expires, or a signing key must be replaced, in seconds since 1970',
    unit: 's',
  });
  meter.addBatchObservableCallback(
    (result) => {
      for (const { kind, owner, at } of [...endingsOf(registry.current()), ...signingKeys(keyRing)])
        result.observe(expiry, at / 1000, {
          'clinical_launch.credential.kind': kind,
          'clinical_launch.credential.owner': owner,
        });
    },
    [expiry],
  );
}

function signingKeys(keyRing: KeyRing): Ending[] {
  return keyRing.dueAt().map(({ realm, at }) => ({ kind: 'signing_key', owner: realm, at }));
}

function endingsOf({ realms, trustedIssuers = [] }: Registry): Ending[] {
  const clients = realms.flatMap(({ realm, clients: own }) =>
    own.flatMap((client) => {
      const owner = `${realm} ${client.clientId}`;
      return [...lastOf('client_secret', owner, client.secrets), ...callbackOf(owner, client)];
    }),
  );
  const external = trustedIssuers.flatMap(({ issuer, clients: theirs }) =>
    theirs.flatMap((client) => callbackOf(`${issuer} ${client.clientId}`, client)),
  );
  return [...clients, ...external];
}

type Secret = { readonly expires?: string };

const callbackOf = (owner: string, client: { readonly callback?: { readonly secrets: readonly Secret[] } }) =>
  lastOf('callback_secret', owner, client.callback?.secrets ?? []);

function lastOf(kind: string, owner: string, secrets: readonly Secret[]): Ending[] {
  const ends = secrets.flatMap(({ expires }) => (expires === undefined ? [] : [Date.parse(expires)]));
  return ends.length === 0 || ends.length < secrets.length ? [] : [{ kind, owner, at: Math.max(...ends) }];
}
