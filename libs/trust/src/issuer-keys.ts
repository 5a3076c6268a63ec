import { memberOf } from '@clinical-launch/contracts/schema';
import type { OutboundAnswer, OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { IssuerPolicy } from './issuer-policies.ts';
import { createPublishedKeys, jsonOf } from './published-keys.ts';
import type { VerificationKeys } from './verification-keys.ts';

/** Creates the keys of an issuer, whose address its discovery document may name. */
export function createIssuerKeys(
  policy: IssuerPolicy,
  { fetchOutbound, ...options }: { clock: Clock; fetchOutbound: OutboundFetch; logger?: Logger | undefined },
): VerificationKeys {
  const get = (address: URL) => fetchOutbound(address, { isOperators: policy.isConfigured });
  let located: URL | undefined;
  return createPublishedKeys({
    ...options,
    owner: policy.issuer,
    failure: "The issuer's signing keys could not be fetched",
    async fetchKeys() {
      const address = located ?? (await locateKeys(policy, get));
      // After a failure, locates the keys again, because they may have moved.
      located = undefined;
      const keys = await jsonOf(await get(address));
      located = address;
      return keys;
    },
  });
}

type Get = (address: URL) => Promise<OutboundAnswer>;

async function locateKeys({ issuer, jwksUri }: IssuerPolicy, get: Get): Promise<URL> {
  if (jwksUri !== undefined) return new URL(jwksUri);
  // A terminating slash is removed before the suffix (OpenID Connect Discovery 1.0 section 4.1).
  const metadata = await jsonOf(
    await get(new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)),
  );
  const statedIssuer = memberOf(metadata, 'issuer');
  const stated = memberOf(metadata, 'jwks_uri');
  // The issuer in the document must be the expected issuer (OpenID Connect Discovery 1.0 section 4.3).
  if (statedIssuer !== issuer || typeof stated !== 'string')
    throw new Error('The discovery document belongs to another issuer');
  const address = new URL(stated);
  // An external document must not choose where this service sends requests.
  if (address.origin !== new URL(issuer).origin)
    throw new Error("The keys are not on the issuer's origin. Register their address as jwksUri");
  return address;
}
