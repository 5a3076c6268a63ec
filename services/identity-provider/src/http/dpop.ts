import type { IncomingMessage } from 'node:http';
import type { Clock } from '@clinical-launch/runtime/clock';
import { type DpopProof, verifyDpopProof } from '@clinical-launch/trust/dpop-proof';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';

type DpopExchange = {
  readonly dependencies: { readonly clock: Clock };
  readonly realm: DesktopIssuingRealm;
  readonly request: Pick<IncomingMessage, 'headers' | 'method'>;
  /** The last segment of the endpoint's address. */
  readonly endpoint: 'token' | 'par';
};

/**
 * Verifies the DPoP proof of a request (RFC 9449 section 5). Leaves the proof usable. The proof is used up by
 * the step that redeems a ticket or stores a pushed request.
 * @returns the proof, or undefined if the request has none
 * @throws TokenRefusal 400 if the proof is invalid or for another request
 */
export async function readDpopProof({
  dependencies,
  realm,
  request,
  endpoint,
}: DpopExchange): Promise<DpopProof | undefined> {
  // Node joins repeated headers of this name into one string, which is not a valid proof.
  const { dpop: header } = request.headers;
  if (typeof header !== 'string') return undefined;
  const url = `${realm.baseUrl}/oauth2/v2.0/${endpoint}`;
  const proof = await verifyDpopProof(
    header,
    { method: request.method ?? '', url },
    dependencies.clock.now(),
  );
  if ('fault' in proof) throw new TokenRefusal('invalid_dpop_proof', { message: proof.fault });
  return proof;
}
