import { guidForm, type Handler } from '@clinical-launch/service/http';
import type { Tickets } from '@clinical-launch/tickets';
import { launchOwner, revocationSeconds } from '../domain/desktop-chain.ts';
import { unknownLaunch } from '../errors.ts';
import type { DesktopExchange, RealmParams } from './door.ts';
import { authenticateHost, type HostParts } from './issue-launch.ts';

/** What the path of a launch names. */
export type LaunchParams = RealmParams & { readonly id: string };

/**
 * `DELETE /{realm}/launches/{id}`: the host application ends a launch that it asked for, by the launch's GUID or its
 * launch identifier. Revokes the launch identifier, code, refresh and access tokens. A launch that has ended already
 * is answered alike, 204, until its absolute end; one of another host is 404, as an unknown one.
 */
export function endLaunch(
  parts: HostParts & { readonly tickets: Tickets },
): Handler<DesktopExchange<LaunchParams>> {
  const { tickets } = parts;
  return async (exchange) => {
    const { realm, request, response, call } = exchange;
    const host = await authenticateHost(parts, exchange);
    const launchId = await findLaunchId(tickets, request.params.id);
    if (launchId === undefined) throw unknownLaunch();
    const data = { realm: realm.name, reason: 'ended_by_host' } as const;
    const isEnded = await tickets.revokeChain(launchId, {
      owner: launchOwner(realm, host),
      forSeconds: revocationSeconds(realm),
      events: [call.event('desktop.chain.revoked.v1', data)],
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
