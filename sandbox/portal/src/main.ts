import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { runProcess } from '@clinical-launch/process/process';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { readTogether } from '@clinical-launch/runtime/environment';
import { openTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { readTrust } from '@clinical-launch/trust/trust';
import { readDeveloperPortalConfig } from './config.ts';
import { developerPortal } from './service.ts';

await runProcess({
  name: 'developer-portal',
  configure: (environment) =>
    readTogether({
      portal: () => readDeveloperPortalConfig(environment),
      trust: () => readTrust(environment),
      sealers: () => openSealers(environment, ['callback']),
    }),
  async open({ portal: config, trust, sealers }, tools) {
    // The launch API checks at each sign-in whether the token was revoked, so this process needs no Redis.
    const { tokens, registry } = tools.own(openTokenVerifier(trust, { ...tools, revocations: undefined }));
    const fetchOutbound = createOutboundFetch({ allowedNetworks: trust.allowedNetworks });
    const service = developerPortal(config, { ...tools, tokens, registry, sealers, fetchOutbound });
    return { mounts: [{ path: '/', service }] };
  },
});
