import { createSharedRateLimiter } from '@clinical-launch/limits/shared-rate-limit';
import { requireParts } from '@clinical-launch/process/parts';
import { runProcess } from '@clinical-launch/process/process';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { readTogether } from '@clinical-launch/runtime/environment';
import { RedisChains } from '@clinical-launch/tickets/redis-chains';
import { openTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { desktopIssuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { readTrust } from '@clinical-launch/trust/trust';
import { readResourceApiConfig } from './config.ts';
import { resourceApi } from './service.ts';

await runProcess({
  name: 'resource-api',
  configure: (environment) =>
    readTogether({
      resourceApi: () => readResourceApiConfig(environment),
      trust: () => readTrust(environment),
      sealers: () => openSealers(environment, ['access-token']),
      parts: () => requireParts(environment, ['REDIS_URL']),
    }),
  async open({ resourceApi: config, trust, sealers }, tools) {
    const { tokens, registry } = tools.own(
      openTokenVerifier(trust, {
        ...tools,
        policiesOf: desktopIssuerPolicies,
        // Tokens of a desktop launch are revoked with their launch, and the service itself checks whether the
        // launch was revoked.
        revocations: undefined,
      }),
    );
    const { location, refusals } = tools.own(await openRedisParts(tools));
    const limiter = createSharedRateLimiter({ ...location, service: tools.name });
    const service = resourceApi(config, {
      ...tools,
      tokens,
      registry,
      chains: new RedisChains(location),
      limiter,
      sealers,
    });
    return { mounts: [{ path: '/', service }], refusals };
  },
});
