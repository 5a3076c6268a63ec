import type { IncomingMessage } from 'node:http';
import type { Clock } from '@clinical-launch/service';
import { verifyDpopProof } from '@clinical-launch/service/trust';
import type { Tickets } from '@clinical-launch/tickets';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';

type DpopExchange = {
  readonly parts: { readonly tickets: Pick<Tickets, 'claim'>; readonly clock: Clock };
  readonly realm: DesktopIssuingRealm;
  readonly request: Pick<IncomingMessage, 'headers' | 'method'>;
  /** The last segment of the endpoint's address. */
  readonly endpoint: 'token' | 'par';
};

/**
 * Verifies the DPoP proof of a request (RFC 9449 section 5) and uses it up.
 * @returns the thumbprint of its key (RFC 7638); undefined for a request without a proof
 * @throws TokenRefusal 400 for a proof that is invalid, is for another request, or was already used
 */
export async function readDpopKey({
  parts,
  realm,
  request,
  endpoint,
}: DpopExchange): Promise<string | undefined> {
  // Node joins repeated headers of this name into one text, which is no proof.
  const { dpop: header } = request.headers;
  if (typeof header !== 'string') return undefined;
  const url = `${realm.baseUrl}/oauth2/v2.0/${endpoint}`;
  const proof = await verifyDpopProof(header, { method: request.method ?? '', url }, parts.clock.now());
  if ('fault' in proof) throw new TokenRefusal('invalid_dpop_proof', { message: proof.fault });
  const { name, forSeconds } = proof;
  if (!(await parts.tickets.claim(name, { forSeconds, events: [] })))
    throw new TokenRefusal('used_dpop_proof');
  return proof.thumbprint;
}
