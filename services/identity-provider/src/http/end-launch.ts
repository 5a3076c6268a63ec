import { guidForm } from '@clinical-launch/http/call';
import type { Handler } from '@clinical-launch/http/exchange';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { launchOwner, revocationSeconds } from '../domain/desktop-chain.ts';
import { unknownLaunch } from '../errors.ts';
import type { DesktopExchange, RealmParams } from './door.ts';
import { authenticateHost, type HostParts } from './issue-launch.ts';

/** The path parameters of a launch. */
export type LaunchParams = RealmParams & { readonly id: string };

/**
 * Ends a launch that the host application requested, by the launch's GUID or its launch identifier:
 * `DELETE /{realm}/launches/{id}`. Revokes the launch identifier, code, refresh and access tokens. Answers
 * 204 as well for a launch that has already ended, until its absolute end. Answers 404 for an unknown launch
 * and for a launch of another host.
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
