import { createHash } from 'node:crypto';
import type { Fault } from '@clinical-launch/contracts/fault';
import type { LaunchPolicy, TrustedIssuer } from '@clinical-launch/contracts/registry';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { Directories } from '@clinical-launch/trust/directory-file';
import { type IssuerPolicy, issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import type { Revocations } from '@clinical-launch/trust/revocations';
import { readLaunchApiConfig } from '../src/config.ts';
import { launchApi } from '../src/service.ts';

export const audience = 'api://clinical-launch';

/** The code verifier of the tests, whose challenge is `codeChallenge`. */
export const codeVerifier = 'v'.repeat(64);
export const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');

type StartOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly policies?: Readonly<Record<string, LaunchPolicy>>;
  readonly trustedIssuers?: readonly TrustedIssuer[];
  readonly allowedNetworks?: readonly string[];
  readonly revocations?: Revocations;
  readonly directories?: Directories;
  readonly tickets?: Tickets;
};

/** Starts a launch API that trusts one identity provider, with the clients `pms` and `other`. */
export async function startLaunchApi({
  environment = {},
  policies = {},
  trustedIssuers = [],
  allowedNetworks = loopbackNetworks,
  revocations,
  directories,
  tickets,
}: StartOptions = {}) {
  const config = readLaunchApiConfig({ PUBLIC_URL: 'https://oltr.example', ...environment });
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const issuer = await startTokenIssuer({ clock, audience });
  const policy: IssuerPolicy = {
    issuer: issuer.issuer,
    audiences: [audience],
    rightClaims: ['scope', 'scp', 'roles'],
    isConfigured: false,
    requiresAccessTokenType: true,
    clientIdClaims: ['client_id', 'azp', 'appid'],
    requiresKeyId: true,
    clients: new Map([
      ['pms', { grants: ['ocs-launch.write'], policy: policies.pms ?? {} }],
      ['other', { grants: ['ocs-launch.write'], policy: policies.other ?? {} }],
    ]),
  };
  const others = issuerPolicies(
    { realms: [], trustedIssuers: [...trustedIssuers] },
    { publicUrl: 'http://localhost', identityProviderUrl: 'http://localhost/idp', audience },
  );
  const tokens = createAccessTokenVerifier({
    issuers: [policy, ...others],
    clock,
    fetchOutbound: createOutboundFetch({ allowedNetworks }),
    revocations,
  });
  const service = launchApi(config, {
    ...dependencies,
    tokens,
    ...(directories && { directories }),
    ...(tickets && { tickets }),
  });
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
  const url = `${server.url}/AccessApi/RequestLaunchUrl`;

  return {
    ...dependencies,
    clock,
    issuer,
    url,
    /** Posts a payload as a practice system does. The given values replace the valid values. */
    async post({
      to = 'RequestLaunchUrl',
      payload = aServiceRequest() as unknown,
      token,
      headers = {},
      query = '',
      body,
    }: {
      to?: 'RequestLaunchUrl' | 'Validate';
      payload?: unknown;
      token?: string;
      headers?: Record<string, string>;
      query?: string;
      body?: string | Uint8Array<ArrayBuffer>;
    } = {}): Promise<Response> {
      return fetch(`${server.url}/AccessApi/${to}${query}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token ?? (await issuer.sign())}`,
          'Content-Type': 'application/json',
          'Code-Challenge': codeChallenge,
          ...headers,
        },
        body: body ?? JSON.stringify(payload),
      });
    },
    async stop() {
      await server.stop();
      await issuer.stop();
    },
  };
}

/** Returns the errors in the answer 400. */
export async function wholeFaultsOf(response: Response): Promise<Fault[]> {
  const { errors } = (await response.json()) as { errors: Fault[] };
  return errors;
}

/** Returns the paths and messages of the errors in the answer 400. */
export async function faultsOf(response: Response): Promise<Pick<Fault, 'path' | 'message'>[]> {
  const faults = await wholeFaultsOf(response);
  return faults.map(({ path, message }) => ({ path, message }));
}
