import { createEvent } from '@clinical-launch/contracts';
import { callOf } from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { RequestHandler } from 'express';
import { readRefreshToken, revocationSeconds } from '../domain/desktop-chain.ts';
import type { DesktopIssuingRealm, Realms } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { eventSource } from '../event-source.ts';
import type { FindOwnToken } from '../store/own-tokens.ts';
import { noteClient } from './asker.ts';
import { identifyPartner } from './partner-of-request.ts';
import { desktopRealmOfPath, type RealmParams } from './realm-of-path.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

type RevokeParts = {
  readonly realms: Realms;
  readonly tickets: Tickets;
  readonly findOwnToken: FindOwnToken;
};

/**
 * `POST /{realm}/oauth2/v2.0/revoke` (RFC 7009): a partner application ends a refresh or an access token, and with it
 * everything that came of the same launch. A token that is not alive is answered as one that was ended.
 */
export function revokeToken({ realms, tickets, findOwnToken }: RevokeParts): RequestHandler<RealmParams> {
  return async (request, response) => {
    const realm = desktopRealmOfPath(realms, request.params);
    const form = await readTokenForm(request, response);
    const parameters = pickParameters(form, ['client_id', 'client_secret', 'token', 'token_type_hint']);
    const partner = identifyPartner({ realm, parameters, authorization: request.get('authorization') });
    noteClient(response, partner);
    const token = parameters.get('token');
    if (token === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'token' });
    const held = await findHeld({ realm, token, tickets, findOwnToken });
    if (held !== undefined) {
      if (partner !== undefined && held.clientId !== partner.clientId) {
        throw new TokenRefusal('token_of_other_client');
      }
      const call = callOf(response);
      call.adopt(held.chain);
      const data = { realm: realm.name, reason: 'revoked_by_client' } as const;
      await tickets.revokeChain(held.chain, {
        forSeconds: revocationSeconds(realm),
        events: [createEvent('desktop.chain.revoked.v1', call.origin(eventSource), data)],
      });
    }
    response.status(200).end();
  };
}

type Held = { readonly clientId: string; readonly chain: string };

async function findHeld({
  realm,
  token,
  tickets,
  findOwnToken,
}: {
  realm: DesktopIssuingRealm;
  token: string;
} & Pick<RevokeParts, 'tickets' | 'findOwnToken'>): Promise<Held | undefined> {
  const found = await tickets.find('refresh-token', token);
  if (found !== undefined) {
    const { context, detail } = readRefreshToken(found);
    return context.realm === realm.name
      ? { clientId: detail.clientId, chain: found.correlationId }
      : undefined;
  }
  const claims = await findOwnToken(realm, token);
  // A token that a client got for itself belongs to no launch, and cannot be revoked.
  if (typeof claims?.sid !== 'string' || typeof claims.client_id !== 'string') return undefined;
  return { clientId: claims.client_id, chain: claims.sid };
}
