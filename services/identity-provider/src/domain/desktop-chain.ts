import { createHash } from 'node:crypto';
import { type DesktopContext, isDesktopContext } from '@clinical-launch/contracts/desktop-context';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { optionalText, type Static, type TSchema, Type } from '@clinical-launch/contracts/type';
import type { DesktopIssuingRealm } from './realms.ts';

/*
 * A desktop launch is a chain of tickets. Each ticket is exchanged for the next ticket in one step, and every
 * ticket contains the launch context.
 *
 * | ticket             | is redeemed with                     | is exchanged for                            |
 * |--------------------|--------------------------------------|---------------------------------------------|
 * | launch identifier  | its realm and its client             | authorization code                          |
 * | authorization code | client, redirect URI, code verifier  | access token, ID token, first refresh token |
 * | refresh token      | client authentication, if registered | access token, ID token, next refresh token  |
 *
 * The chain ends `sessionSeconds` after the launch identifier was issued. The lifetimes of its tickets cannot
 * extend the chain.
 */

const codeDetail = Type.Object({
  clientId: Type.String(),
  redirectUri: Type.String(),
  scope: Type.String(),
  nonce: optionalText(),
  /** The thumbprint of the key that must redeem the code (RFC 9449 section 10). */
  dpopKey: optionalText(),
});
const refreshDetail = Type.Object({
  clientId: Type.String(),
  scope: Type.String(),
  /**
   * The thumbprint of the key that must use the token, for a public client with DPoP (RFC 9449 section 5).
   */
  dpopKey: optionalText(),
  /**
   * The thumbprint of the certificate that must use the token, for a public client with a certificate (RFC
   * 8705 section 4).
   */
  certificate: optionalText(),
});

/** The fields of an authorization code, besides the launch context. */
export type CodeDetail = Static<typeof codeDetail>;
/** The fields of a refresh token, besides the launch context. */
export type RefreshDetail = Static<typeof refreshDetail>;

/** The content of an authorization code or a refresh token. */
export type Link<Detail> = { readonly context: DesktopContext; readonly detail: Detail };

type Carried = { readonly context: unknown; readonly detail: unknown };

/**
 * Reads the content of an authorization code.
 * @throws TypeError if another version stored the content in a different format
 */
export const readCode = readerOf(codeDetail);
/**
 * Reads the content of a refresh token.
 * @throws TypeError if another version stored the content in a different format
 */
export const readRefreshToken = readerOf(refreshDetail);

/**
 * Reads the context of a launch identifier.
 * @throws TypeError if another version stored the content in a different format
 */
export function readLaunch({ context }: { readonly context: unknown }): DesktopContext {
  if (isDesktopContext(context)) return context;
  throw foreignContent();
}

const foreignContent = () => new TypeError('The content of the ticket is not part of a desktop launch');

function readerOf<Schema extends TSchema>(schema: Schema): (carried: Carried) => Link<Static<Schema>> {
  const compiled = compileSchema(schema);
  return ({ context, detail }) => {
    if (isDesktopContext(context) && compiled.is(detail)) return { context, detail };
    throw foreignContent();
  };
}

/** Returns the proof that binds a launch identifier to its partner application. */
export function launchProof({ realm, clientId }: { realm: string; clientId: string }): string {
  return `${realm} ${clientId}`;
}

/** Returns a string that identifies the host application that owns a launch, and the realm of the launch. */
export function launchOwner(
  { name }: Pick<DesktopIssuingRealm, 'name'>,
  { issuer, clientId }: { issuer: string; clientId: string },
): string {
  return JSON.stringify([name, issuer, clientId]);
}

/** Returns the proof that binds an authorization code to its client, redirect URI and PKCE challenge. */
export function codeProof(bound: { clientId: string; redirectUri: string; codeChallenge: string }): string {
  return sha256(JSON.stringify([bound.clientId, bound.redirectUri, bound.codeChallenge]));
}

/** Returns the code challenge of a code verifier with the method S256 (RFC 7636 section 4.2). */
export function challengeOf(codeVerifier: string): string {
  return sha256(codeVerifier);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

const slackSeconds = 60;

/**
 * Returns the seconds for which a revocation must be stored. After that time, every ticket and token of the
 * chain has expired, even if a clock is slow.
 */
export function revocationSeconds({ accessTokenSeconds, desktop }: DesktopIssuingRealm): number {
  const { launchIdentifierSeconds, authorizationCodeSeconds, refreshTokenSeconds, sessionSeconds } = desktop;
  const ticketSeconds = [launchIdentifierSeconds, authorizationCodeSeconds, refreshTokenSeconds];
  return Math.max(accessTokenSeconds, sessionSeconds, ...ticketSeconds) + slackSeconds;
}
