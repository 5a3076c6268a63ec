import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callbackSecretPurpose } from '@clinical-launch/contracts/registry';
import { createPurposeSealer, demoSealingKey } from '@clinical-launch/crypto/sealing-purposes';
import { UsageError } from '@clinical-launch/process/command-line';
import { demoSecret } from '@clinical-launch/trust/production-registry';

/** The values of the options of a command, by name. */
export type OptionValues = Readonly<Record<string, string | undefined>>;

export type VendorClient = {
  readonly clientId: string;
  /** The address of the vendor's backend that receives order documents or logout tokens. */
  readonly callbackUrl?: string;
} & (
  | { readonly protocol: 'pms' }
  | { readonly protocol: 'partner'; readonly redirectUri: string; readonly launchUrl: string }
);

/** Returns the client that the options of a command describe. @throws UsageError */
export function clientIn(given: OptionValues): VendorClient {
  const { client: clientId, protocol = 'pms', callback } = given;
  const { 'redirect-uri': redirectUri, 'launch-url': launchUrl } = given;
  if (clientId === undefined) throw new UsageError('--client is required');
  if (callback !== undefined && !/^https?:$/.test(URL.parse(callback)?.protocol ?? ''))
    throw new UsageError('--callback must be an http or https address');
  const shared = { clientId, ...(callback === undefined ? {} : { callbackUrl: callback }) };
  if (protocol === 'pms') return { protocol, ...shared };
  if (protocol !== 'partner') throw new UsageError('--protocol must be pms or partner');
  if (redirectUri === undefined || launchUrl === undefined)
    throw new UsageError('A partner needs --redirect-uri and --launch-url');
  return { protocol, ...shared, redirectUri, launchUrl };
}

/** Returns the lines that a command prints about the publicly known secrets of a client. */
export function secretsOf({ protocol, clientId, callbackUrl }: VendorClient): readonly string[] {
  if (protocol === 'partner') return [];
  const callback = callbackUrl === undefined ? [] : [`callback secret ${callbackSecretOf(clientId)}`];
  return [`client secret ${demoSecret(clientId)}`, ...callback];
}

/** Returns the public secret that signs the callbacks of a client. */
export const callbackSecretOf = (clientId: string): string =>
  `whsec_${createHash('sha256').update(`callback of ${clientId}`).digest('base64')}`;

type Entry = { readonly clientId: string };
type Document = {
  readonly realms: readonly {
    readonly realm: string;
    readonly clients: readonly Entry[];
    readonly desktop?: { readonly partners: readonly Entry[] };
  }[];
};

/**
 * Writes a copy of a registry that also contains the client of a vendor. The client replaces a client with
 * the same id. A practice management system has the secret `{clientId}-secret`; a partner has none.
 */
export function writeRegistry(registryFile: string | URL, client: VendorClient) {
  const { realms }: Document = JSON.parse(readFileSync(registryFile, 'utf8'));
  const replaced = (entries: readonly Entry[], entry: Entry) => [
    ...entries.filter(({ clientId }) => clientId !== entry.clientId),
    entry,
  ];
  const written = realms.map((realm) => {
    if (client.protocol === 'pms' && realm.realm === 'demo')
      return { ...realm, clients: replaced(realm.clients, practiceSystem(client)) };
    if (client.protocol === 'partner' && realm.desktop !== undefined)
      return {
        ...realm,
        desktop: { ...realm.desktop, partners: replaced(realm.desktop.partners, partner(client)) },
      };
    return realm;
  });
  const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-twin-'));
  const path = join(directory, 'registry.json');
  writeFileSync(path, JSON.stringify({ realms: written }));
  return { path, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Returns the address at which the twin receives the messages for a client. The twin forwards them. */
const messageAddress = (clientId: string) =>
  `\${PUBLIC_URL}/developers/callbacks/${encodeURIComponent(clientId)}`;

function practiceSystem({ clientId, callbackUrl }: VendorClient) {
  const sealer = createPurposeSealer('callback', [demoSealingKey]);
  const sealed = sealer.seal(callbackSecretPurpose, callbackSecretOf(clientId), []);
  return {
    clientId,
    name: clientId,
    secrets: [{ sha256: createHash('sha256').update(demoSecret(clientId)).digest('hex') }],
    scopes: ['ocs-launch.write'],
    practices: 'any',
    ...(callbackUrl === undefined
      ? {}
      : { callback: { url: messageAddress(clientId), secrets: [{ sealed }] } }),
  };
}

function partner({
  clientId,
  callbackUrl,
  redirectUri,
  launchUrl,
}: Extract<VendorClient, { readonly protocol: 'partner' }>) {
  return {
    clientId,
    name: clientId,
    profile: 'standard',
    redirectUris: [redirectUri],
    launchUrl,
    scopes: [
      'openid',
      'profile',
      'email',
      'offline_access',
      'launch',
      'resource.read',
      'fhirUser',
      'launch/patient',
      'patient/*.rs',
    ],
    ...(callbackUrl === undefined ? {} : { backchannelLogoutUri: messageAddress(clientId) }),
  };
}
