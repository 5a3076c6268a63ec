import type { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { desktopRealms, runDesktop } from './running-desktop.ts';
import { aClient } from './running-identity-provider.ts';

/**
 * Starts desktop realms with several hosts: `host` and `neighbour` of one issuer, a `host` of another realm,
 * and a trusted issuer whose clients may not launch (`stranger`).
 */
export async function runHosts(clock: TestClock) {
  const storage = await openTestStorage();
  const stranger = await startTokenIssuer({ clock, audience: 'api://clinical-launch' });
  const neighbours = {
    realm: 'neighbours',
    clients: [aClient({ clientId: 'host', scopes: ['launch.issue'] })],
  };
  const running = await runDesktop({
    clock,
    storage,
    realms: [...desktopRealms(), neighbours],
    trustedIssuers: [{ issuer: stranger.issuer, clients: [{ clientId: 'pms' }] }],
  });
  return {
    ...running,
    stranger,
    /** Returns a token of the client `host` in the other realm `neighbours`. */
    namesakeToken: async () =>
      String((await running.idp.token('neighbours', { client_id: 'host' })).access_token),
    async stop() {
      await running.stop();
      await stranger.stop();
      await storage.close();
    },
  };
}
