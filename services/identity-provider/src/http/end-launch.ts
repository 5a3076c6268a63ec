import { createEvent } from '@clinical-launch/contracts';
import { callOf, guidForm } from '@clinical-launch/service/http';
import type { Tickets } from '@clinical-launch/tickets';
import type { RequestHandler } from 'express';
import { launchOwner, revocationSeconds } from '../domain/desktop-chain.ts';
import { unknownLaunch } from '../errors.ts';
import { eventSource } from '../event-source.ts';
import { authenticateHost, type HostParts } from './issue-launch.ts';
import { desktopRealmOfPath, type RealmParams } from './realm-of-path.ts';

type LaunchParams = RealmParams & { readonly id: string };

/**
 * `DELETE /{realm}/launches/{id}`: the host application ends a launch that it asked for, by the launch's GUID or its
 * launch identifier. Revokes the launch identifier, code, refresh and access tokens. A launch that has ended already
 * is answered alike, 204, until its absolute end; one of another host is 404, as an unknown one.
 */
export function endLaunch(parts: HostParts & { readonly tickets: Tickets }): RequestHandler<LaunchParams> {
  const { realms, tickets } = parts;
  return async (request, response) => {
    const realm = desktopRealmOfPath(realms, request.params);
    const host = await authenticateHost(parts, request, response);
    const launchId = await findLaunchId(tickets, request.params.id);
    if (launchId === undefined) throw unknownLaunch();
    const call = callOf(response);
    const data = { realm: realm.name, reason: 'ended_by_host' } as const;
    const isEnded = await tickets.revokeChain(launchId, {
      owner: launchOwner(realm, host),
      forSeconds: revocationSeconds(realm),
      events: [createEvent('desktop.chain.revoked.v1', call.origin(eventSource), data)],
    });
    if (!isEnded) throw unknownLaunch();
    call.adopt(launchId);
    response.status(204).end();
  };
}

async function findLaunchId(tickets: Tickets, id: string): Promise<string | undefined> {
  const guid = id.toLowerCase();
  return guidForm.test(guid) ? guid : tickets.findChainOf('launch-identifier', id);
}
