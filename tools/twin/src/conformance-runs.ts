import { type Attribution, createAttribution } from '@clinical-launch/conformance/attribution';
import {
  createConformanceRuns,
  type DesktopLaunches,
  messageTimeoutMs,
} from '@clinical-launch/conformance/runs';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { HostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient, records } from '@clinical-launch/simulators/records';
import { callbackSecretOf, type VendorClient } from './vendor-client.ts';

type Dependencies = {
  readonly client?: VendorClient | undefined;
  readonly host: HostClient;
  readonly clock: Clock;
};

/**
 * Creates the conformance runs of a twin, and the parts of its recording proxy. Only the vendor's client has
 * an address for messages.
 */
export function createTwinRuns({ client, host, clock }: Dependencies) {
  const attribution = createAttribution();
  const send = createOutboundFetch({ allowedNetworks: [], timeoutMs: messageTimeoutMs });
  const runs = createConformanceRuns({
    clock,
    receiverOf(clientId) {
      const address = client?.clientId === clientId ? client.callbackUrl : undefined;
      if (address === undefined) return undefined;
      return {
        address,
        secret: callbackSecretOf(clientId),
        post: (message) => send(new URL(address), { method: 'POST', isOperators: true, ...message }),
      };
    },
    desktop: desktopOf(host, attribution),
  });
  return { runs, recording: { attribution, clock, watch: runs.watch } };
}

const desktopOf = (host: HostClient, attribution: Attribution): DesktopLaunches => ({
  async create(clientId) {
    const patient = getPatient(null);
    const { authorizations } = records.host;
    const { launchUrl, correlationId } = await host.requestLaunch({ clientId, patient, authorizations });
    const launchId = correlationId;
    attribution.assign(new URL(launchUrl).searchParams.get('launch'), { clientId, launchId });
    return { launchUrl, launchId };
  },
  end: (launchId) => host.endLaunch(launchId),
});
