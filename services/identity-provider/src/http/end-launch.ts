import { guidForm } from '@clinical-launch/contracts/schema';
import { sendStatus } from '@clinical-launch/http/answer';
import { type Handler, textParameter } from '@clinical-launch/http/endpoint';
import type { Chains } from '@clinical-launch/tickets/chains';
import { launchOwner, revocationSeconds } from '../domain/desktop-chain.ts';
import { unknownLaunch } from '../errors.ts';
import { behindHost, type HostDependencies } from './issue-launch.ts';
import type { DesktopExchange } from './realm-guards.ts';

/**
 * Ends a launch that the host application requested, by the launch's GUID or its launch identifier: `DELETE
 * /{realm}/launches/{id}`. Revokes the launch identifier, code, refresh tokens and access tokens. Also
 * answers 204 if the launch was already ended, until the absolute end of the launch. Answers 404 for an
 * unknown launch and for a launch of another host.
 */
export function endLaunch(
  dependencies: HostDependencies & { readonly chains: Chains },
): Handler<DesktopExchange> {
  const { chains } = dependencies;
  return behindHost(dependencies, async (exchange) => {
    const { realm, host, response, call } = exchange;
    const id = textParameter(exchange, 'id');
    const guid = id.toLowerCase();
    const launchId = guidForm.test(guid) ? guid : await chains.findOf('launch-identifier', id);
    if (launchId === undefined) throw unknownLaunch();
    const data = { realm: realm.name, reason: 'ended_by_host' } as const;
    const isEnded = await chains.revoke(launchId, {
      owner: launchOwner(realm, host),
      forSeconds: revocationSeconds(realm),
      events: [call.event('desktop.chain.revoked.v1', data)],
    });
    if (!isEnded) throw unknownLaunch();
    call.adopt(launchId);
    sendStatus(response, 204);
  });
}
