import type { LaunchPolicy, RegisteredClient, Registry } from '@clinical-launch/contracts/registry';
import type { Answers } from '@clinical-launch/process/command-line';
import type { JSONPath } from 'jsonc-parser';
import { requiredOption } from '../command.ts';
import { options as o } from './options.ts';

/** A client or partner, and its path in the registry. */
export type Entry<Client> = {
  /** The realm, or the URL of a trusted issuer. */
  readonly owner: string;
  readonly kind: 'client' | 'partner';
  readonly path: JSONPath;
  readonly client: Client;
};

type OfOurRealms =
  | 'name'
  | 'scopes'
  | 'jwks'
  | 'jwksUri'
  | 'tlsClientAuthSanDns'
  | 'tlsClientCertificateThumbprints';

/** The members that a client, a partner or a client of a trusted issuer may have. */
export type AnyClient = LaunchPolicy & {
  readonly clientId: string;
  readonly suspended?: boolean;
} & Partial<Pick<RegisteredClient, OfOurRealms | 'secrets'>>;

/** Returns every client and partner, in the order of the registry. */
export function entriesIn({ realms, trustedIssuers = [] }: Registry): Entry<AnyClient>[] {
  return [
    ...realms.flatMap(({ realm, clients, desktop }, at) => [
      ...entriesAt(clients, { owner: realm, kind: 'client', path: ['realms', at, 'clients'] }),
      ...entriesAt(desktop?.partners ?? [], {
        owner: realm,
        kind: 'partner',
        path: ['realms', at, 'desktop', 'partners'],
      }),
    ]),
    ...trustedIssuers.flatMap(({ issuer, clients }, at) =>
      entriesAt(clients, { owner: issuer, kind: 'client', path: ['trustedIssuers', at, 'clients'] }),
    ),
  ];
}

const entriesAt = (clients: readonly AnyClient[], place: Omit<Entry<AnyClient>, 'client'>) =>
  clients.map((client, index) => ({ ...place, path: [...place.path, index], client }));

/**
 * Finds the entry of `--realm` and `--client-id`.
 * @param kind if given, finds only entries of this kind
 * @throws Error that lists the known realms, or states that the realm has no such client
 */
export function findEntry(
  registry: Registry,
  answers: Answers,
  kind?: Entry<AnyClient>['kind'],
): Entry<AnyClient> {
  const owner = requiredOption(answers, o.owner);
  const clientId = requiredOption(answers, o.clientId);
  const found = entriesIn(registry).find(
    (entry) =>
      entry.owner === owner &&
      entry.client.clientId === clientId &&
      (kind === undefined || kind === entry.kind),
  );
  if (found !== undefined) return found;
  if (!owner.includes('://')) findRealm(registry, owner);
  throw new Error(
    `The ${owner.includes('://') ? 'issuer' : 'realm'} ${owner} has no ${kind ?? 'client'} ${clientId}`,
  );
}

/**
 * Returns the index of a realm. @throws Error that lists the known realms, so that a mistyped realm is never
 * created
 */
export function findRealm({ realms }: Registry, name: string): number {
  const index = realms.findIndex(({ realm }) => realm === name);
  if (index >= 0) return index;
  const known = realms.map(({ realm }) => realm).join(', ') || 'none';
  throw new Error(`There is no realm ${name}. Known realms: ${known}. Use add-realm to create one`);
}

/** Returns the index of a trusted issuer. @throws Error that lists the known issuers */
export function findIssuer({ trustedIssuers = [] }: Registry, url: string): number {
  const index = trustedIssuers.findIndex(({ issuer }) => issuer === url);
  if (index >= 0) return index;
  const known = trustedIssuers.map(({ issuer }) => issuer).join(', ') || 'none';
  throw new Error(`There is no trusted issuer ${url}. Known issuers: ${known}. Use add-issuer to add one`);
}

/**
 * Checks that a client id is free.
 * @throws Error if a client or partner of the realm or issuer already has this id
 */
export function assertFree(
  registry: Registry,
  { owner, clientId }: { owner: string; clientId: string },
): void {
  const isTaken = entriesIn(registry).some(
    (entry) => entry.owner === owner && entry.client.clientId === clientId,
  );
  const kind = owner.includes('://') ? 'issuer' : 'realm';
  if (isTaken) throw new Error(`The ${kind} ${owner} already has a client ${clientId}`);
}
