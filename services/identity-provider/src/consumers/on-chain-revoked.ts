import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts';
import type { Consumer } from '@clinical-launch/events';
import type { Tickets } from '@clinical-launch/tickets';
import type { Realms } from '../domain/realms.ts';
import type { NewLogout } from '../store/logouts.ts';

const revoked = 'desktop.chain.revoked.v1';

type Parts = {
  readonly realms: Realms;
  readonly tickets: Pick<Tickets, 'findChainRecord'>;
  readonly add: (logout: NewLogout) => Promise<void>;
};

/**
 * Has the partner application of a revoked launch told, where it registered a `backchannelLogoutUri` and did not
 * revoke the launch itself. The chain's record names the partner: the request that led to the revocation may have
 * been anybody's.
 */
export function onChainRevoked({ realms, tickets, add }: Parts): Consumer {
  return {
    name: 'desktop-logout',
    ...eventConsumers['desktop-logout'],
    async handle(event) {
      if (!isRevoked(event) || event.data.reason === 'revoked_by_client') return;
      const { id, correlationid: launchId, traceparent, data } = event;
      const record = await tickets.findChainRecord(launchId);
      // The launch has reached its absolute end: nothing of it is left to be ended.
      if (record === undefined) return;
      const partner = realms.find(data.realm.split('/'))?.desktop?.partners.get(record.audience);
      if (partner?.backchannelLogoutUri === undefined) return;
      await add({ id, realm: data.realm, clientId: partner.clientId, launchId, traceparent });
    },
  };
}

function isRevoked(event: CloudEvent): event is CloudEvent<typeof revoked> {
  return event.type === revoked;
}
