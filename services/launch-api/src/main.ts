import { createSharedRateLimiter } from '@clinical-launch/limits/shared-rate-limit';
import { requireParts } from '@clinical-launch/process/parts';
import { runProcess } from '@clinical-launch/process/process';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openRevocationsPart } from '@clinical-launch/process/revocations-part';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { readTogether } from '@clinical-launch/runtime/environment';
import { RedisClaims } from '@clinical-launch/tickets/redis-claims';
import { openTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { openDirectories, readDirectories } from '@clinical-launch/trust/directory-file';
import { RedisRevokedTokens } from '@clinical-launch/trust/redis-revoked-tokens';
import { readTrust } from '@clinical-launch/trust/trust';
import { readLaunchApiConfig } from './config.ts';
import { launchApi } from './service.ts';

await runProcess({
  name: 'launch-api',
  configure: (environment) =>
    readTogether({
      launchApi: () => readLaunchApiConfig(environment),
      trust: () => readTrust(environment),
      sharedDirectory: () => readDirectories(environment),
      sealers: () => openSealers(environment, ['launch']),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ launchApi: config, trust, sealers, sharedDirectory: sharedFile }, tools) {
    const parts = tools.own(await openRedisParts({ ...tools, sealers, requiresCompleteClaims: true }));
    const { location, tickets, refusals } = parts;
    const claims = new RedisClaims(location);
    tools.own({ checks: { claims: () => claims.areComplete() }, stop: async () => undefined });
    const limiter = createSharedRateLimiter({ ...location, service: tools.name });
    const revokedTokens = new RedisRevokedTokens(location);
    const { revocations } = tools.own(await openRevocationsPart({ revokedTokens }, tools));
    const { registryFile, options } = trust;
    const { publicUrl } = options;
    const directories = openDirectories({ sharedFile, registryFile, publicUrl, logger: tools.logger });
    tools.own({ checks: {}, stop: async () => directories.stop() });
    const { tokens } = tools.own(
      openTokenVerifier(trust, {
        ...tools,
        revocations,
        checkRegistry: (registry) => directories.follow(registry),
      }),
    );
    const service = launchApi(config, { ...tools, tickets, limiter, tokens, directories });
    return { mounts: [{ path: '/', service }], refusals };
  },
});
