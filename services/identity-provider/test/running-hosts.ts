import { randomUUID } from 'node:crypto';
import type { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import { SignJWT } from 'jose';
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

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type Assertion = {
  readonly clientId: string;
  readonly audience: string;
  readonly key: TestKey;
  readonly clock: TestClock;
  /** Claims that replace the valid claims. An undefined claim is omitted. */
  readonly claims: Record<string, unknown>;
  readonly header: Record<string, unknown>;
};

/** Returns a client assertion (RFC 7523 section 3) that is valid except for the given changes. */
export function assertionFor({ clientId, audience, key, clock, claims, header }: Assertion): Promise<string> {
  const now = Math.floor(clock.now() / 1000);
  const good = { iss: clientId, sub: clientId, aud: audience, jti: randomUUID(), iat: now, exp: now + 60 };
  return new SignJWT({ ...good, ...claims })
    .setProtectedHeader({ alg: key.publicJwk.alg ?? 'ES256', kid: key.kid, ...header })
    .sign(key.privateKey);
}
