import { readFileSync } from 'node:fs';
import type { Answers, Option } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { options as o } from './options.ts';
import { practicesOf } from './practices.ts';

/** A member of a registry entry, and the option that sets it. */
export type Member = {
  readonly option: Option;
  readonly name: string;
  /** The parent member, if it is not a member of the entry itself. */
  readonly within?: string;
  /** Returns the member's value. @throws Error if the values are invalid */
  readonly read: (values: readonly string[]) => unknown;
};

const text = (option: Option, name: string): Member => ({ option, name, read: ([value]) => value });
const list = (option: Option, name: string): Member => ({ option, name, read: (values) => values });
const number = (option: Option, name: string): Member => ({ option, name, read: ([value]) => Number(value) });
const yesNo = (option: Option, name: string): Member => ({
  option,
  name,
  read: ([value]) => value === 'yes',
});

const requestLimit = number(o.requestsPerSecond, 'requestsPerSecond');
const keys: readonly Member[] = [
  { option: o.jwks, name: 'jwks', read: ([path]) => readKeySet(path) },
  text(o.jwksUri, 'jwksUri'),
];
const certificates: readonly Member[] = [
  text(o.tlsSanDns, 'tlsClientAuthSanDns'),
  list(o.tlsThumbprints, 'tlsClientCertificateThumbprints'),
  yesNo(o.certificateBound, 'tlsClientCertificateBoundAccessTokens'),
];

/** The members that authenticate a client instead of a secret. */
export const proofs: readonly Member[] = [...keys, ...certificates];

/** The file of the values that were agreed with a client. */
export const directory: Member = text(o.directory, 'directory');

/** The launch settings of a client, including one of a trusted issuer. */
export const launchPolicy: readonly Member[] = [
  requestLimit,
  list(o.frameAncestors, 'frameAncestors'),
  text(o.resultOrigin, 'resultOrigin'),
  text(o.launchErrorPage, 'launchErrorPage'),
  { option: o.practices, name: 'practices', read: practicesOf },
  directory,
];

/** A client of our realms. */
export const clientMembers: readonly Member[] = [
  text(o.name, 'name'),
  list(o.rights, 'scopes'),
  ...launchPolicy,
  ...proofs,
];

/** A partner application. */
export const partnerMembers: readonly Member[] = [
  text(o.name, 'name'),
  text(o.launchUrl, 'launchUrl'),
  list(o.redirectUris, 'redirectUris'),
  text(o.backchannelLogoutUri, 'backchannelLogoutUri'),
  text(o.profile, 'profile'),
  list(o.scopes, 'scopes'),
  requestLimit,
  yesNo(o.dpopBound, 'dpopBoundAccessTokens'),
  yesNo(o.requirePar, 'requirePushedAuthorizationRequests'),
  ...proofs,
];

/** A realm. */
export const realmMembers: readonly Member[] = [
  text(o.signingAlgorithm, 'signingAlgorithm'),
  number(o.accessTokenSeconds, 'accessTokenSeconds'),
];

/** The further members of a desktop realm. */
export const desktopMembers: readonly Member[] = [
  number(o.launchIdentifierSeconds, 'launchIdentifierSeconds'),
  number(o.authorizationCodeSeconds, 'authorizationCodeSeconds'),
  number(o.refreshTokenSeconds, 'refreshTokenSeconds'),
  number(o.sessionSeconds, 'sessionSeconds'),
  yesNo(o.sendsIssuer, 'sendsIssuer'),
].map((member) => ({ ...member, within: 'desktop' }));

/** A trusted identity provider. */
export const issuerMembers: readonly Member[] = [
  text(o.jwksUri, 'jwksUri'),
  list(o.audiences, 'audiences'),
  list(o.rightClaims, 'rightClaims'),
  text(o.clientIdClaim, 'clientIdClaim'),
  list(o.grants, 'grants'),
  yesNo(o.acceptsAnyTokenType, 'acceptsAnyTokenType'),
  yesNo(o.acceptsMissingKeyId, 'acceptsMissingKeyId'),
];

/**
 * Returns the members from the answers, as the registry writes them.
 * @throws Error if one is invalid
 */
export function membersIn(answers: Answers, members: readonly Member[]): Readonly<Record<string, unknown>> {
  assertOneKeySource(answers);
  return Object.fromEntries(
    members.flatMap(({ option, name, read }) => {
      const values = answers.get(option.name);
      return values === undefined ? [] : [[name, read(values)]];
    }),
  );
}

/** Returns the options of members for a change: none is required, and the terminal asks for none. */
export const changing = (members: readonly Member[]): readonly Option[] =>
  members.map(({ option }) => ({ ...option, isOptional: true, isUnasked: true }));

/** RFC 7591 section 2 */
function assertOneKeySource(answers: Answers): void {
  if (answers.has(o.jwks.name) && answers.has(o.jwksUri.name)) {
    throw new UsageError('Give --jwks or --jwks-uri, not both');
  }
}

/**
 * Reads a file with a JWK Set, or with one JWK. The check of the registry checks the keys.
 * @throws Error if it cannot be read, or is not JSON
 */
function readKeySet(path = ''): unknown {
  const text = readFileSync(path, 'utf8');
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    // The message of JSON.parse would quote the file, which may be a private key.
    throw new Error(`${path} is not JSON`);
  }
  const isSet = typeof read === 'object' && read !== null && 'keys' in read;
  return isSet ? read : { keys: [read] };
}
