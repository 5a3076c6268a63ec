import {
  type ConformanceRuns,
  createConformanceRuns,
  type DesktopTools,
  messageTimeoutMs,
} from '@clinical-launch/conformance/runs';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { HostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient, records } from '@clinical-launch/simulators/records';
import { callbackSecretOf, type VendorClient } from './vendor-client.ts';

type Dependencies = {
  /** The client of the vendor, if the twin was started with one. */
  readonly client?: VendorClient | undefined;
  readonly host: HostClient;
  readonly clock: Clock;
};

/** Creates the conformance runs of a twin. Only the vendor's client has an address for messages. */
export function createTwinRuns({ client, host, clock }: Dependencies): ConformanceRuns {
  const send = createOutboundFetch({ allowedNetworks: [], timeoutMs: messageTimeoutMs });
  return createConformanceRuns({
    clock,
    send: (url, request) => send(url, { ...request, isOperators: true }),
    addressOf: (clientId) => (client?.clientId === clientId ? client.callbackUrl : undefined),
    callbackSecretOf,
    desktopOf: (clientId) => desktopOf(clientId, host),
  });
}

function desktopOf(clientId: string, host: HostClient): DesktopTools {
  let newest: string | undefined;
  return {
    async createLaunch() {
      const { authorizations } = records.host;
      const { launchUrl, correlationId } = await host.requestLaunch({
        clientId,
        patient: getPatient(null),
        authorizations,
      });
      newest = correlationId;
      return launchUrl;
    },
    async endLaunch() {
      if (newest !== undefined) await host.endLaunch(newest);
    },
  };
}
