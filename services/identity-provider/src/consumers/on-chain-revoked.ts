import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import type { Consumer } from '@clinical-launch/events/event-bus';
import { currentTraceparent } from '@clinical-launch/runtime/tracing';
import type { Chains } from '@clinical-launch/tickets/chains';
import type { Realms } from '../domain/realms.ts';
import type { NewLogout } from '../store/logouts.ts';

const revoked = 'desktop.chain.revoked.v1';

type Dependencies = {
  readonly realms: Realms;
  readonly chains: Pick<Chains, 'findRecord'>;
  readonly add: (logout: NewLogout) => Promise<void>;
};

/**
 * Sends a logout token to the partner application of a revoked launch, if the partner registered a
 * `backchannelLogoutUri` and did not revoke the launch itself. Reads the partner from the stored record of
 * the launch, because another client may have sent the request that revoked the launch.
 */
export function onChainRevoked({ realms, chains, add }: Dependencies): Consumer {
  return {
    name: 'desktop-logout',
    ...eventConsumers['desktop-logout'],
    async handle(event) {
      if (!isRevoked(event) || event.data.reason === 'revoked_by_client') return;
      const { id: messageId, correlationid: launchId, data } = event;
      const record = await chains.findRecord(launchId);
      // If there is no record, the launch has reached its absolute end, so no session is left to log out.
      if (record === undefined) return;
      const partner = realms.find(data.realm.split('/'))?.desktop?.partners.get(record.audience);
      if (partner?.backchannelLogoutUri === undefined) return;
      const traceparent = currentTraceparent() ?? event.traceparent;
      await add({ messageId, realm: data.realm, clientId: partner.clientId, launchId, traceparent });
    },
  };
}

function isRevoked(event: CloudEvent): event is CloudEvent<typeof revoked> {
  return event.type === revoked;
}
