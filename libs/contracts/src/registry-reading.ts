import { publicKeyFault } from './client-authentication.ts';
import { earlierCodeFaults } from './earlier-codes.ts';
import { type FileFault, oneOf } from './fault.ts';
import { type Registry, registrySchema } from './registry.ts';
import { overlap } from './resource-names.ts';
import { compileSchema, entriesOf, memberOf } from './schema.ts';

const compiled = compileSchema(registrySchema);

type ParseOptions = {
  /** The origin of the platform. The issuers of its realms begin with this origin. */
  readonly publicUrl?: string;
};

/**
 * Checks that the content of a registry file matches the schema, and that its entries are unique and do not
 * contradict each other.
 * @throws TypeError that lists all errors with their paths, but without the hashes of secrets
 */
export function parseRegistry(candidate: unknown, { publicUrl }: ParseOptions = {}): Registry {
  const contradictions = contradictionsIn(candidate, publicUrl);
  if (compiled.is(candidate)) {
    contradictions.push(...earlierCodeFaults(candidate, publicUrl ?? ''));
    if (contradictions.length === 0) return candidate;
  }
  const faults = [...compiled.faultsOf(candidate), ...contradictions];
  const described = faults.map(({ path, message }) => `${path} ${message}`);
  throw new TypeError(`The registry is invalid:\n  ${described.join('\n  ')}`);
}

/** Returns the registry without suspended clients and partners, which services treat as not registered. */
export function activeRegistry({ realms, trustedIssuers, ...others }: Registry): Registry {
  return {
    ...others,
    realms: realms.map(({ desktop, ...realm }) => ({
      ...realm,
      clients: realm.clients.filter(isActive),
      ...(desktop === undefined
        ? {}
        : { desktop: { ...desktop, partners: desktop.partners.filter(isActive) } }),
    })),
    ...(trustedIssuers === undefined
      ? {}
      : {
          trustedIssuers: trustedIssuers.map((trusted) => ({
            ...trusted,
            clients: trusted.clients.filter(isActive),
          })),
        }),
  };
}

const isActive = ({ suspended: isSuspended = false }: { readonly suspended?: boolean }) => !isSuspended;

/**
 * Returns the errors that the schema cannot find: repeated entries, the platform's own issuers under
 * `trustedIssuers`, unusable keys, sandbox clients with further rights, required
 * navigations that browsers do not report, and prefixes that two host applications share. Accepts any value,
 * so that these errors and those of the schema are reported together.
 */
const contradictionsIn = (candidate: unknown, publicUrl: string | undefined): FileFault[] => [
  ...repetitionsIn(candidate),
  ...ownIssuersIn(candidate, publicUrl),
  ...keyFaultsIn(candidate),
  ...sandboxFaultsIn(candidate),
  ...navigationFaultsIn(candidate, publicUrl),
  ...ernFaultsIn(candidate),
];

/**
 * Returns an error for each host application that could name the users of an earlier host application.
 * Compares the hosts of all realms, because a host may launch into every desktop realm.
 */
function ernFaultsIn(candidate: unknown): FileFault[] {
  const hosts = entriesOf(candidate, 'realms').flatMap((realm, at) =>
    entriesOf(realm, 'clients').map((client, index) => ({
      erns: memberOf(client, 'erns'),
      path: `realms[${at}].clients[${index}]`,
    })),
  );
  return hosts.flatMap(({ erns, path }, index) =>
    hosts
      .slice(0, index)
      .filter((earlier) => overlap(earlier.erns, erns))
      .map((earlier) => ({ path: `${path}.erns`, message: `must not overlap those of ${earlier.path}` })),
  );
}

/** The rights that allow launches and nothing else. A sandbox client may have only these rights. */
const launchRights: readonly unknown[] = ['ocs-launch.write', 'launch.issue'];

/**
 * Returns an error for each right that a sandbox client must not have, because other rights give access to
 * the launches and records of production clients.
 */
const sandboxFaultsIn = (candidate: unknown): FileFault[] =>
  entriesOf(candidate, 'realms').flatMap((realm, at) =>
    entriesOf(realm, 'clients').flatMap((client, index) =>
      memberOf(client, 'sandbox') === true ? rightFaultsOf(client, `realms[${at}].clients[${index}]`) : [],
    ),
  );

const rightFaultsOf = (client: unknown, path: string): FileFault[] =>
  entriesOf(client, 'scopes').flatMap((scope, index) =>
    launchRights.includes(scope)
      ? []
      : [
          {
            path: `${path}.scopes[${index}]`,
            message: `must be ${oneOf(launchRights)}, because a sandbox client must have no other rights`,
          },
        ],
  );

/**
 * Returns an error for each client that requires navigations although the platform's address is plain http.
 * Browsers send `Sec-Fetch-Mode` only to https (and to their own machine), so no launch would open.
 */
export function navigationFaultsIn(candidate: unknown, publicUrl = ''): FileFault[] {
  const url = URL.parse(publicUrl);
  if (url?.protocol !== 'http:') return [];
  const message = 'must not be true, because PUBLIC_URL is http: browsers would not say that they navigate';
  const faultOf = (client: unknown, path: string) =>
    memberOf(client, 'requireNavigation') === true ? [{ path: `${path}.requireNavigation`, message }] : [];
  return ['realms', 'trustedIssuers'].flatMap((list) =>
    entriesOf(candidate, list).flatMap((owner, at) =>
      entriesOf(owner, 'clients').flatMap((client, index) =>
        faultOf(client, `${list}[${at}].clients[${index}]`),
      ),
    ),
  );
}

function keyFaultsIn(candidate: unknown): FileFault[] {
  return entriesOf(candidate, 'realms').flatMap((realm, at) => [
    ...entriesOf(realm, 'clients').flatMap((client, index) =>
      keyFaultsOf(client, `realms[${at}].clients[${index}]`),
    ),
    ...entriesOf(memberOf(realm, 'desktop'), 'partners').flatMap((partner, index) =>
      keyFaultsOf(partner, `realms[${at}].desktop.partners[${index}]`),
    ),
  ]);
}

function keyFaultsOf(owner: unknown, path: string): FileFault[] {
  const jwks = memberOf(owner, 'jwks');
  const keys = entriesOf(jwks, 'keys');
  const hasBoth = jwks !== undefined && memberOf(owner, 'jwksUri') !== undefined;
  return [
    // RFC 7591 section 2 forbids a client to have both `jwks` and `jwks_uri`.
    ...(hasBoth ? [{ path: `${path}.jwksUri`, message: 'must not be present together with jwks' }] : []),
    ...repeated(keys, { path: `${path}.jwks.keys`, key: 'kid' }),
    ...keys.flatMap((key, index) => {
      const fault = publicKeyFault(key);
      return fault === undefined ? [] : [{ path: `${path}.jwks.keys[${index}]`, message: fault }];
    }),
  ];
}

/**
 * Returns an error for each trusted issuer that is an issuer of this platform, because such an entry would
 * replace the settings of the realm.
 */
function ownIssuersIn(candidate: unknown, publicUrl: string | undefined): FileFault[] {
  if (publicUrl === undefined) return [];
  const ours = `${publicUrl}/idp/`.toLowerCase();
  return entriesOf(candidate, 'trustedIssuers').flatMap((entry, index) =>
    String(memberOf(entry, 'issuer')).toLowerCase().startsWith(ours)
      ? [
          {
            path: `trustedIssuers[${index}].issuer`,
            message: 'is an issuer of this platform. Register a realm instead',
          },
        ]
      : [],
  );
}

/**
 * Returns an error for each repeated entry. Accepts any value, so that repeated and malformed entries are
 * reported together.
 */
function repetitionsIn(candidate: unknown): FileFault[] {
  const realms = entriesOf(candidate, 'realms');
  const issuers = entriesOf(candidate, 'trustedIssuers');
  const clientsOf = (path: string) => (owner: unknown, index: number) =>
    repeated(entriesOf(owner, 'clients'), { path: `${path}[${index}].clients`, key: 'clientId' });
  // In one realm, a client and a partner application must not have the same id, because tokens identify both
  // only by realm and id.
  const partnersOf = (realm: unknown, index: number) =>
    repeated(entriesOf(memberOf(realm, 'desktop'), 'partners'), {
      path: `realms[${index}].desktop.partners`,
      key: 'clientId',
      others: entriesOf(realm, 'clients'),
    });
  return [
    ...repeated(realms, { path: 'realms', key: 'realm' }),
    ...realms.flatMap(clientsOf('realms')),
    ...realms.flatMap(partnersOf),
    ...repeated(issuers, { path: 'trustedIssuers', key: 'issuer' }),
    ...issuers.flatMap(clientsOf('trustedIssuers')),
  ];
}

type Place = { readonly path: string; readonly key: string; readonly others?: readonly unknown[] };

/** Returns an error for each entry whose key also occurs in an earlier entry or in `others`. */
function repeated(entries: readonly unknown[], { path, key, others = [] }: Place): FileFault[] {
  const seen = new Set(others.map((entry) => memberOf(entry, key)));
  return entries.flatMap((entry, index) => {
    const name = memberOf(entry, key);
    const isRepeated = name !== undefined && seen.has(name);
    seen.add(name);
    return isRepeated ? [{ path: `${path}[${index}]`, message: 'is registered twice' }] : [];
  });
}
