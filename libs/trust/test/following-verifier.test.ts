import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { openTokenVerifier } from '../src/access-tokens.ts';

const audience = 'api://clinical-launch';

let folder: string;
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
const clock = new TestClock();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verifier-'));
  issuer = await startTokenIssuer({ clock, audience });
});
afterEach(async () => {
  await issuer.stop();
  await rm(folder, { recursive: true });
});

/** Returns a registry that trusts one identity provider for these clients. */
const registryWith = (...clientIds: string[]) =>
  JSON.stringify({
    realms: [],
    trustedIssuers: [{ issuer: issuer.issuer, clients: clientIds.map((clientId) => ({ clientId })) }],
  });

it('a running verifier accepts newly registered clients and refuses removed clients', async () => {
  const registryFile = join(folder, 'registry.json');
  await writeFile(registryFile, registryWith('first'));
  const { promise: inUse, resolve } = Promise.withResolvers<void>();
  const logger = pino({}, { write: (line) => line.includes('the changed registry is in use') && resolve() });
  const options = {
    publicUrl: 'https://launch.example',
    identityProviderUrl: 'https://launch.example/idp',
    audience,
  };
  const verifier = openTokenVerifier(
    { registryFile, options, allowedNetworks: loopbackNetworks, isProduction: false },
    { clock, logger, revocations: undefined },
  );
  try {
    const authorizationOf = async (clientId: string) =>
      `Bearer ${await issuer.sign({ claims: { client_id: clientId } })}`;
    const first = await authorizationOf('first');
    const second = await authorizationOf('second');
    expect(await verifier.tokens.verify(first)).toMatchObject({ clientId: 'first' });
    await expect(verifier.tokens.verify(second)).rejects.toMatchObject({ status: 401 });

    await writeFile(registryFile, registryWith('second'));
    await inUse;
    expect(await verifier.tokens.verify(second)).toMatchObject({ clientId: 'second' });
    await expect(verifier.tokens.verify(first)).rejects.toMatchObject({ status: 401 });
  } finally {
    await verifier.stop();
  }
});
