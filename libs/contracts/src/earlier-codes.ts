import { issuerOf } from './addresses.ts';
import {
  codeKeyOf,
  isAgreedPractice,
  practiceBindingOf,
  type WrittenPractice,
  writtenKeyOf,
} from './coded-identifiers.ts';
import type { FileFault } from './fault.ts';
import { bareCode } from './formats.ts';
import type { LaunchContext } from './launch-context.ts';
import type { LaunchPolicy, Registry } from './registry.ts';

/** The client within which codes are valid. Without a client, they are valid for all clients. */
type Scope = { readonly issuer?: string | undefined; readonly clientId?: string | undefined };
/** The practices (`codeKeyOf`) at a place of the registry. */
type Use = Scope & { readonly place: string; readonly codes: { has(key: string): boolean } };

const isLocal = ({ system }: WrittenPractice) => system === 'local-org-code';
const isSame = (one: Scope, other: Scope) => one.issuer === other.issuer && one.clientId === other.clientId;
const isOfAll = (practice: Scope) => isSame(practice, {});

/**
 * Returns the errors in the earlier codes of practices: local codes without a registered client, and codes that
 * are claimed twice or in use, by a practice or in the practices of a client.
 */
export function earlierCodeFaults(registry: Registry, publicUrl: string): FileFault[] {
  const clients = clientsIn(registry, publicUrl);
  const named = (registry.practices ?? []).map((one, at) => ({ ...one, place: `practices[${at}]` }));
  const unscoped = named.filter((practice) =>
    isOfAll(practice)
      ? [practice, ...practice.formerly].some(isLocal)
      : !clients.some((client) => isSame(client, practice)),
  );
  const message = 'must contain the issuer and the clientId of a registered client, or only ODS codes';
  return [
    ...unscoped.map(({ place: path }) => ({ path, message })),
    ...earlierCodesInUse(registry, [
      ...named.map((one) => ({ ...one, codes: new Set([writtenKeyOf(one)]) })),
      ...clients.map(({ policy: { practices: stated }, path, ...scope }) => ({
        ...scope,
        place: `${path}.practices`,
        codes: new Set(Array.isArray(stated) ? stated.map(writtenKeyOf) : []),
      })),
    ]),
  ];
}

/** Returns an error for each earlier code that is claimed twice or in use. A local code needs the same client. */
export function earlierCodesInUse({ practices = [] }: Registry, uses: readonly Use[]): FileFault[] {
  const claimed = new Set<string>();
  return practices.flatMap(({ issuer, clientId, formerly }, at) =>
    formerly.flatMap((code, index) => {
      const path = `practices[${at}].formerly[${index}]`;
      const key = writtenKeyOf(code);
      const claim = JSON.stringify([key, ...(isLocal(code) ? [issuer, clientId] : [])]);
      if (claimed.has(claim)) return [{ path, message: 'is claimed twice' }];
      claimed.add(claim);
      const isUsedBy = (use: Use) =>
        use.codes.has(key) && (!isLocal(code) || isSame(use, { issuer, clientId }));
      return uses
        .filter(isUsedBy)
        .slice(0, 1)
        .map(({ place }) => ({ path, message: `must not be in use, but is in ${place}` }));
    }),
  );
}

/** Returns every client that may launch, with its settings and its path in the registry. */
export function clientsIn({ realms, trustedIssuers = [] }: Registry, publicUrl: string) {
  const owners = [
    ...realms.map((one, at) => ({ ...one, issuer: issuerOf(publicUrl, one.realm), path: `realms[${at}]` })),
    ...trustedIssuers.map((one, at) => ({ ...one, path: `trustedIssuers[${at}]` })),
  ];
  return owners.flatMap(({ issuer, clients, path }) =>
    clients.map((policy: LaunchPolicy & { readonly clientId: string }, at) => {
      return { issuer, clientId: policy.clientId, policy, path: `${path}.clients[${at}]` };
    }),
  );
}

/**
 * Returns a launch with the earlier codes of its practice, and of all practices to which its client is bound.
 * Call this for each HTTP request, so that a changed registry applies to open launches. The result decides what
 * the launch can see, never for which practices its client may launch.
 */
export function withEarlierCodes(context: LaunchContext, { practices = [] }: Registry): LaunchContext {
  const { client, request } = context;
  const valid = practices.filter((practice) => isOfAll(practice) || isSame(practice, client));
  if (valid.length === 0) return context;
  const earlierOf = (isSuccessor: (practice: WrittenPractice) => boolean) =>
    valid.filter(isSuccessor).flatMap(({ formerly }) => formerly);
  const ownKey = codeKeyOf(request.practice.identifier);
  const formerly = earlierOf((practice) => writtenKeyOf(practice) === ownKey).map(identifierOf);
  const { practices: binding } = client;
  if (binding === undefined) return { ...context, formerly };
  const earlier = practiceBindingOf(earlierOf((one) => isAgreedPractice(identifierOf(one), binding)));
  const codesOf = (system: keyof typeof binding) => [...binding[system], ...(earlier?.[system] ?? [])];
  const extended = {
    'ods-organization-code': codesOf('ods-organization-code'),
    'local-org-code': codesOf('local-org-code'),
  };
  return { ...context, formerly, client: { ...client, practices: extended } };
}

const identifierOf = ({ system, code }: WrittenPractice) => ({ system, value: bareCode(code) });
