import type { Answers } from '@clinical-launch/process/command-line';
import { requiredOption } from '../command.ts';
import { removeValue, setValue } from './edit-json.ts';
import { type AnyClient, type Entry, entriesIn, findEntry } from './entries.ts';
import { writtenEnds } from './kept-secrets.ts';
import { options as o } from './options.ts';
import { reportPractices } from './practices.ts';
import type { Context, Edit } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

/** Suspends a client or partner. The platform then treats it as unknown, but the registry keeps its entry. */
export function suspend({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const { path, client } = findEntry(registry, answers);
  if (client.suspended === true) throw new Error(`${client.clientId} is already suspended`);
  return {
    text: setValue(text, [...path, 'suspended'], true),
    reported: [
      ['suspended', client.clientId],
      ['applies', `within seconds. Open sessions continue until launches end --client ${client.clientId}`],
    ],
  };
}

/** Ends a suspension. */
export function resume({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const { path, client } = findEntry(registry, answers);
  if (client.suspended !== true) throw new Error(`${client.clientId} is not suspended`);
  return { text: removeValue(text, [...path, 'suspended']), reported: [['resumed', client.clientId]] };
}

/** Removes a client or partner with its registration. */
export function remove({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const { path } = findEntry(registry, answers);
  return { text: removeValue(text, path), reported: [['removed', requiredOption(answers, o.clientId)]] };
}

/** Lists the realms with their clients and partners, but without secrets. */
export function list({ registry }: RegistryDocument, _answers: Answers, { now }: Context): Edit {
  const found = entriesIn(registry);
  const realms = registry.realms.map(({ realm, desktop }) => ({ realm, isDesktop: desktop !== undefined }));
  const issuers = (registry.trustedIssuers ?? []).map(({ issuer }) => issuer);
  const owners = [...realms.map(({ realm }) => realm), ...issuers];
  const empty = owners.filter((owner) => !found.some((entry) => entry.owner === owner));
  const lines = table([
    ['REALM', 'KIND', 'CLIENT', 'STATE', 'PROVED BY', 'SECRETS', 'PRACTICES', 'CALLBACK', 'NAME'],
    ...found.map((entry) => rowOf(entry, now)),
    ...empty.map((owner) => [owner, '(no clients)']),
  ]);
  return {
    reported: lines.map((line) => ['', line] as const),
    result: { realms, trustedIssuers: issuers, clients: found.map(listed) },
  };
}

const none = '-';

/** Returns what a client is by its rights. Without scopes, it is of an external issuer and may launch. */
function kindOf({ scopes = ['ocs-launch.write'] }: AnyClient): 'pms' | 'host' | 'client' {
  if (scopes.includes('ocs-launch.write')) return 'pms';
  return scopes.includes('launch.issue') ? 'host' : 'client';
}

function rowOf({ owner, kind, client }: Entry<AnyClient>, now: number): string[] {
  const { clientId, name = '', suspended = false, sandbox = false, secrets = [], callback } = client;
  return [
    owner,
    sandbox ? 'sandbox' : kind === 'partner' ? kind : kindOf(client),
    clientId,
    suspended ? 'suspended' : 'active',
    authenticationOf(client).join(',') || 'none',
    secrets.length > 0 ? writtenEnds(secrets, now) : none,
    kind === 'client' ? practicesCell(client) : none,
    callback === undefined ? none : `${callback.url} (${writtenEnds(callback.secrets, now)})`,
    name,
  ];
}

/**
 * Returns the practices for which a client may launch, as a text. Clients of external identity providers have
 * no scopes, but may launch.
 */
function practicesCell({ scopes, practices }: AnyClient): string {
  const launches = ['ocs-launch.write', 'launch.issue'];
  if (scopes !== undefined && !launches.some((right) => scopes.includes(right))) return none;
  if (practices === undefined) return 'not stated';
  return reportPractices(practices)
    .map(([, codes]) => codes)
    .join(' ');
}

function listed({ owner, kind, client }: Entry<AnyClient>) {
  const { clientId, name, scopes, suspended = false, callback, practices, directory, secrets } = client;
  const { sandbox = false, erns } = client;
  const ends = (ofClient: readonly { readonly expires?: string }[] | undefined) =>
    ofClient?.map(({ expires }) => ({ expires }));
  return {
    owner,
    kind,
    clientId,
    name,
    scopes,
    isSuspended: suspended,
    isSandbox: sandbox,
    authentication: authenticationOf(client),
    secrets: ends(secrets),
    callbackUrl: callback?.url,
    callbackSecrets: ends(callback?.secrets),
    practices,
    erns,
    directory,
  };
}

/**
 * Returns how an entry authenticates. Returns nothing for public clients, and for clients of external
 * identity providers.
 */
function authenticationOf(client: AnyClient): string[] {
  const { secrets = [], jwks, jwksUri } = client;
  const { tlsClientAuthSanDns, tlsClientCertificateThumbprints } = client;
  return [
    ...(secrets.length > 0 ? ['secret'] : []),
    ...(jwks !== undefined || jwksUri !== undefined ? ['keys'] : []),
    ...(tlsClientAuthSanDns !== undefined || tlsClientCertificateThumbprints !== undefined
      ? ['certificate']
      : []),
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
