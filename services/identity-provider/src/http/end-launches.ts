import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { sendJson } from '@clinical-launch/http/answer';
import { readJson } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import type { ChainRevocation, Chains } from '@clinical-launch/tickets/chains';
import type { EndedLaunches } from '../domain/answers.ts';
import { launchOwner, revocationSeconds } from '../domain/desktop-chain.ts';
import { type Ending, labelsOf, readEnding } from '../domain/launch-selection.ts';
import { behindHost, type HostDependencies } from './issue-launch.ts';
import type { DesktopExchange } from './realm-guards.ts';

/** The accepted content types and size of a request to end launches. */
export const endingBody = { types: ['application/json'], limitBytes: 8 * 1024 };

type Dependencies = HostDependencies & { readonly chains: Chains; readonly events: Outbox };

/**
 * Ends all live launches that the host application requested for a user, a practice or a partner application:
 * `POST /{realm}/launches/_end`. Ends every launch that was issued before the request, and no launch that is
 * issued after the answer. First stores an event about the request. If Redis then fails, the answer is 503,
 * and a repeated request ends the remaining launches.
 */
export function endLaunches(dependencies: Dependencies): Handler<DesktopExchange> {
  const { chains, events } = dependencies;
  return behindHost(dependencies, async (exchange) => {
    const { realm, host, response, call } = exchange;
    const { reason, ...selection } = validate(await readJson(exchange, endingBody));
    const because = { realm: realm.name, ...withoutUndefined({ statedReason: reason }) };
    const { issuer, clientId } = host;
    await events.append([call.event('launches.ended.v1', { ...because, issuer, clientId, selection })]);

    const owner = launchOwner(realm, host);
    const launchIds = await chains.list({ owner, labels: labelsOf(selection) });
    const ended = await revokeAll(chains, launchIds, () => ({
      owner,
      forSeconds: revocationSeconds(realm),
      events: [call.event('desktop.chain.revoked.v1', { ...because, reason: 'ended_by_host' })],
    }));
    sendJson(response, { ended } satisfies EndedLaunches);
  });
}

/** @throws ServiceError 400 with all faults at once */
function validate(sent: unknown): Ending {
  const read = readEnding(sent);
  if ('ending' in read) return read.ending;
  throw new ServiceError({
    code: 'invalid_request',
    message: 'The request is invalid. Correct the fields listed in `errors` and send it again.',
    faults: read.faults,
  });
}

const concurrency = 100;

/** Revokes launches. Returns the number of launches that had not reached their absolute end. */
async function revokeAll(
  chains: Chains,
  launchIds: readonly string[],
  revocation: () => ChainRevocation,
): Promise<number> {
  let ended = 0;
  for (let at = 0; at < launchIds.length; at += concurrency) {
    const some = launchIds.slice(at, at + concurrency);
    const outcomes = await Promise.all(some.map((launchId) => chains.revoke(launchId, revocation())));
    ended += outcomes.filter(Boolean).length;
  }
  return ended;
}
