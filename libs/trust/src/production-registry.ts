import { createHash } from 'node:crypto';
import { partnerAddressFault } from '@clinical-launch/contracts/addresses';
import {
  callbackSecretPurpose,
  type LaunchPolicy,
  type RegisteredCallback,
  type RegisteredClient,
  type RegisteredPartner,
  type Registry,
  type TrustedIssuer,
} from '@clinical-launch/contracts/registry';
import { createPurposeSealer, demoSealingKey } from '@clinical-launch/crypto/sealing-purposes';
import { ConfigurationError } from '@clinical-launch/runtime/environment';

/** Returns the public secret of a demo client. */
export const demoSecret = (clientId: string): string => `${clientId}-secret`;

function demoSecretHash(clientId: string): string {
  return createHash('sha256').update(demoSecret(clientId)).digest('hex');
}

/** Returns whether a client has the public secret of the demo client with the same id. */
export const hasDemoSecret = ({
  clientId,
  secrets,
}: Pick<RegisteredClient, 'clientId' | 'secrets'>): boolean =>
  secrets.some(({ sha256 }) => sha256 === demoSecretHash(clientId));

const demoClients = [
  'pms-demo',
  'pms-other',
  'pms-noscope',
  'pms-limited',
  'sandbox-pms',
  'host-demo',
  'audit-demo',
  'partner-demo',
  'partner-standard',
  'partner-native',
];
const demoClientIds = new Set(demoClients);
const demoSecretHashes = new Set(demoClients.map(demoSecretHash));
const demoSealer = createPurposeSealer('callback', [demoSealingKey]);

/**
 * A rule for an entry in production. Returns an error for each invalid member, with the path of the member,
 * such as `.callback.url must be https`.
 */
type Rule<Entry> = (entry: Entry) => readonly string[];

const clientRules: readonly Rule<RegisteredClient>[] = [
  ({ clientId }) => demoIdProblems(clientId),
  ({ jwksUri }) => (jwksUri === undefined ? [] : httpsProblems(jwksUri, '.jwksUri')),
  ({ secrets }) =>
    secrets.flatMap(({ sha256 }, index) =>
      demoSecretHashes.has(sha256) ? [`.secrets[${index}] is a secret of the demo`] : [],
    ),
  (client) =>
    ['ocs-launch.write', 'launch.issue'].some((right) => client.scopes.includes(right))
      ? unstatedPractices(client)
      : [],
  ({ scopes, erns }) =>
    scopes.includes('launch.issue') && erns === undefined
      ? [
          '.erns is required. List the prefixes of the ERNs that the host may name, or "any" for the only host',
        ]
      : [],
];

/** Refuses a client without `practices`, because it could launch for every practice of the country. */
const unstatedPractices: Rule<LaunchPolicy> = ({ practices }) =>
  practices === undefined
    ? ['.practices is required. List the practices that the client may launch for, or state "any"']
    : [];

/** Rules for all clients that may launch: clients of the platform's realms and of trusted issuers. */
const launchingClientRules: readonly Rule<LaunchPolicy>[] = [
  ({ frameAncestors = [] }) =>
    frameAncestors.flatMap((origin, index) => frameAncestorProblems(origin, `.frameAncestors[${index}]`)),
  ({ resultOrigin }) =>
    resultOrigin === undefined || secureOrigin.test(resultOrigin)
      ? []
      : ['.resultOrigin must be one https origin'],
  ({ launchErrorPage: page }) => (page === undefined ? [] : httpsProblems(page, '.launchErrorPage')),
  ({ callback }) => (callback === undefined ? [] : callbackProblems(callback)),
];

const partnerRules: readonly Rule<RegisteredPartner>[] = [
  ({ clientId }) => demoIdProblems(clientId),
  ({ jwksUri }) => (jwksUri === undefined ? [] : httpsProblems(jwksUri, '.jwksUri')),
  ({ redirectUris }) =>
    redirectUris.flatMap((address, index) => partnerAddressProblems(address, `.redirectUris[${index}]`)),
  ({ launchUrl }) => partnerAddressProblems(launchUrl, '.launchUrl'),
  ({ backchannelLogoutUri: uri }) => (uri === undefined ? [] : httpsProblems(uri, '.backchannelLogoutUri')),
];

/**
 * Issuers must use https: over http, an attacker on the network path can replace the keys and sign tokens.
 */
const issuerRules: readonly Rule<TrustedIssuer>[] = [
  ({ issuer }) => httpsProblems(issuer, '.issuer'),
  ({ jwksUri }) => (jwksUri === undefined ? [] : httpsProblems(jwksUri, '.jwksUri')),
];

/**
 * Lists the errors of a registry in production, by path: for instance public secrets, addresses that are not
 * https, and clients without `practices` or `erns`.
 */
export function productionRegistryProblems({ realms, trustedIssuers = [] }: Registry): string[] {
  return [
    ...realms.flatMap(({ clients, desktop }, realm) => [
      ...problemsOf(clients, `realms[${realm}].clients`, [...clientRules, ...launchingClientRules]),
      ...problemsOf(desktop?.partners ?? [], `realms[${realm}].desktop.partners`, partnerRules),
    ]),
    ...problemsOf(trustedIssuers, 'trustedIssuers', issuerRules),
    ...trustedIssuers.flatMap(({ clients }, issuer) =>
      problemsOf(clients, `trustedIssuers[${issuer}].clients`, [unstatedPractices, ...launchingClientRules]),
    ),
  ];
}

/**
 * Checks that a registry may be used in production.
 * @throws ConfigurationError that names every problem at once, without values
 */
export function assertProductionRegistry(registry: Registry): void {
  const problems = productionRegistryProblems(registry);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function problemsOf<Entry>(entries: readonly Entry[], path: string, rules: readonly Rule<Entry>[]): string[] {
  return entries.flatMap((entry, index) =>
    rules.flatMap((rule) => rule(entry)).map((problem) => `${path}[${index}]${problem}`),
  );
}

const demoIdProblems = (clientId: string) =>
  demoClientIds.has(clientId) ? ['.clientId is a client of the demo'] : [];

function partnerAddressProblems(address: string, at: string): string[] {
  const fault = partnerAddressFault(address, { isProduction: true });
  return fault === undefined ? [] : [`${at} ${fault}`];
}

const httpsProblems = (address: string, at: string) =>
  address.startsWith('https://') && URL.canParse(address) ? [] : [`${at} must be https`];

const secureOrigin = /^https:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
/**
 * Matches the wildcard for all subdomains of a domain with at least three labels. Anybody can get a subdomain
 * of many two-label domains, such as `co.uk`, `nhs.uk` and those of hosting providers.
 */
const secureSubdomains = /^https:\/\/\*(?:\.[a-z0-9-]+){3,}(?::\d{1,5})?$/i;

const frameAncestorProblems = (origin: string, at: string) =>
  secureOrigin.test(origin) || secureSubdomains.test(origin)
    ? []
    : [`${at} must be an https origin, with \`*\` only before a domain of three labels or more`];

function callbackProblems({ url, secrets }: RegisteredCallback): string[] {
  return [
    ...secrets.flatMap(({ sealed }, index) =>
      isSealedByDemo(sealed) ? [`.callback.secrets[${index}] is sealed with the key of the demo`] : [],
    ),
    ...httpsProblems(url, '.callback.url'),
  ];
}

function isSealedByDemo(sealed: string): boolean {
  try {
    demoSealer.open(callbackSecretPurpose, sealed, []);
    return true;
  } catch {
    return false;
  }
}
