import { createHash } from 'node:crypto';
import { compileSchema, type DesktopContext, isDesktopContext } from '@clinical-launch/contracts';
import { type Static, type TSchema, Type } from 'typebox';
import type { DesktopIssuingRealm } from './realms.ts';

/*
 * A desktop launch is one chain of tickets; each is used up for the next in one step, and all carry its context.
 *
 * | ticket             | is proven by                              | gives                                      |
 * |--------------------|-------------------------------------------|--------------------------------------------|
 * | launch identifier  | realm and client that it was issued for   | authorization code                         |
 * | authorization code | client, redirect URI and PKCE verifier    | access token, ID token, first refresh token |
 * | refresh token      | itself (its client is public)             | access token, ID token, next refresh token |
 *
 * The chain ends `sessionSeconds` after the launch identifier was issued, whatever its tickets' own lifetimes are.
 */

const codeDetail = Type.Object({
  clientId: Type.String(),
  redirectUri: Type.String(),
  scope: Type.String(),
  nonce: Type.Optional(Type.String()),
  /** The thumbprint of the key that must redeem it (RFC 9449 section 10). */
  dpopKey: Type.Optional(Type.String()),
});
const refreshDetail = Type.Object({
  clientId: Type.String(),
  scope: Type.String(),
  /** The thumbprint of the key that must use it, for a public client with DPoP (RFC 9449 section 5). */
  dpopKey: Type.Optional(Type.String()),
  /** The thumbprint of the certificate that must use it, for a public client with one (RFC 8705 section 4). */
  certificate: Type.Optional(Type.String()),
});

/** What belongs to an authorization code alone. */
export type CodeDetail = Static<typeof codeDetail>;
/** What belongs to a refresh token alone. */
export type RefreshDetail = Static<typeof refreshDetail>;

/** What a ticket of the chain carries. */
export type Link<Detail> = { readonly context: DesktopContext; readonly detail: Detail };

type Carried = { readonly context: unknown; readonly detail: unknown };

/** Reads what an authorization code carries. @throws TypeError when another version wrote it otherwise */
export const readCode = readerOf(codeDetail);
/** Reads what a refresh token carries. @throws TypeError when another version wrote it otherwise */
export const readRefreshToken = readerOf(refreshDetail);

/** Reads what a launch identifier carries. @throws TypeError when another version wrote it otherwise */
export function readLaunch({ context }: Pick<Carried, 'context'>): DesktopContext {
  if (isDesktopContext(context)) return context;
  throw new TypeError('What the launch identifier carries is not of a desktop launch');
}

function readerOf<Schema extends TSchema>(schema: Schema): (carried: Carried) => Link<Static<Schema>> {
  const compiled = compileSchema(schema);
  return ({ context, detail }) => {
    if (isDesktopContext(context) && compiled.is(detail)) return { context, detail };
    throw new TypeError('What the ticket carries is not of a desktop launch');
  };
}

/** Binds a launch identifier to the one partner application that may use it. */
export function launchProof({ realm, clientId }: { realm: string; clientId: string }): string {
  return `${realm} ${clientId}`;
}

/** Names the host application that a launch belongs to, within the realm of the launch. */
export function launchOwner(
  { name }: DesktopIssuingRealm,
  { issuer, clientId }: { issuer: string; clientId: string },
): string {
  return JSON.stringify([name, issuer, clientId]);
}

/** Binds an authorization code to the client, the redirect URI and the PKCE challenge that it was issued for. */
export function codeProof(bound: { clientId: string; redirectUri: string; codeChallenge: string }): string {
  return sha256(JSON.stringify([bound.clientId, bound.redirectUri, bound.codeChallenge]));
}

/** RFC 7636 section 4.2: S256 */
export function challengeOf(codeVerifier: string): string {
  return sha256(codeVerifier);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

const slackSeconds = 60;

/** How long a revocation must be remembered: until the last ticket and token of the chain has expired by every clock. */
export function revocationSeconds({ accessTokenSeconds, desktop }: DesktopIssuingRealm): number {
  const { launchIdentifierSeconds, authorizationCodeSeconds, refreshTokenSeconds, sessionSeconds } = desktop;
  const ticketSeconds = [launchIdentifierSeconds, authorizationCodeSeconds, refreshTokenSeconds];
  return Math.max(accessTokenSeconds, sessionSeconds, ...ticketSeconds) + slackSeconds;
}
