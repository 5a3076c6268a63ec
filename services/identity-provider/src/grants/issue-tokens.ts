import { randomUUID } from 'node:crypto';
import type { DesktopContext } from '@clinical-launch/contracts/desktop-context';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { TokenContext } from '@clinical-launch/contracts/token-context';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfTokenContext, tokenContextPurpose } from '@clinical-launch/crypto/sealing-purposes';
import type { Call } from '@clinical-launch/http/call';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { TokenBinding } from '../domain/access-token.ts';
import {
  accessTokenHash,
  desktopAccessTokenClaims,
  desktopTokenSeconds,
  idTokenClaims,
} from '../domain/desktop-tokens.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { smartContext } from '../domain/smart-context.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { TokenAnswer } from './grant.ts';

type TokenIssueDependencies = {
  readonly audience: string;
  readonly keyRing: KeyRing;
  readonly contextSealer: Pick<Sealer, 'seal'>;
  readonly pseudonyms: Pick<PatientPseudonyms, 'fhirIdsOf'>;
  readonly clock: Clock;
};

type TokenIssueRequest = {
  readonly realm: DesktopIssuingRealm;
  readonly clientId: string;
  readonly grant: 'authorization_code' | 'refresh_token';
  readonly scope: string;
  readonly call: Call;
  /** The key and certificate that the access token is bound to (RFC 9449 section 6.1, RFC 8705 section 3). */
  readonly binding: TokenBinding;
  /** The seconds until the launch ends. Undefined for a launch without an end. */
  readonly chainEndsInSeconds: number | undefined;
};

type Granted = { readonly context: DesktopContext; readonly refreshToken: string; readonly nonce?: string };

/**
 * The prepared tokens of an answer. Every step that can fail has succeeded before the code or refresh token
 * is used up.
 */
export type TokenIssue = {
  /**
   * The event to store in the step that uses up the code or refresh token, so that the audit trail contains
   * every token.
   */
  readonly event: CloudEvent;
  /** Returns the complete token response (Desktop: Token response). */
  answer(granted: Granted): Promise<TokenAnswer>;
};

/** Prepares the tokens of an answer. @throws ServiceError 503 if the signing keys are unavailable */
export type PrepareTokens = (request: TokenIssueRequest) => Promise<TokenIssue>;

/** Creates the function that prepares the tokens of partner applications. */
export function createTokenIssue({
  audience,
  keyRing,
  contextSealer,
  pseudonyms,
  clock,
}: TokenIssueDependencies): PrepareTokens {
  return async ({ realm, clientId, grant, scope, call, binding, chainEndsInSeconds }) => {
    const signer = await keyRing.signer(realm);
    const tokenId = randomUUID();
    const hasSession = realm.desktop.partners.get(clientId)?.backchannelLogoutUri !== undefined;
    const expiresInSeconds = desktopTokenSeconds(realm, chainEndsInSeconds);
    return {
      event: call.event('desktop.tokens.issued.v1', {
        realm: realm.name,
        clientId,
        grant,
        tokenId,
        scope,
        expiresInSeconds,
      }),
      async answer({ context, refreshToken, nonce }) {
        const { user, organisation, patient, launchId } = context;
        const sealBinding = bindingOfTokenContext({ tokenId, launchId });
        const fhirIds = pseudonyms.fhirIdsOf(context);
        const sealed: TokenContext = { user, organisation, patient, fhirIds };
        const sealedContext = contextSealer.seal(tokenContextPurpose, sealed, sealBinding);
        const about = { realm, context, now: clock.now(), expiresInSeconds };
        const accessToken = signer.sign(
          'at+jwt',
          desktopAccessTokenClaims({ ...about, audience, tokenId, scope, sealedContext, binding }),
        );
        const hash = accessTokenHash(accessToken, signer.algorithm);
        const identity = { ...about, scope, fhirIds, accessTokenHash: hash, nonce, hasSession };
        return {
          access_token: accessToken,
          token_type: binding.dpopKey === undefined ? 'Bearer' : 'DPoP',
          expires_in: expiresInSeconds,
          refresh_token: refreshToken,
          id_token: signer.sign('JWT', idTokenClaims(identity)),
          scope,
          ...smartContext(scope, fhirIds),
        };
      },
    };
  };
}
