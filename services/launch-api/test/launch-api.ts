import { createHash } from 'node:crypto';
import type { LaunchPolicy, TrustedIssuer } from '@clinical-launch/contracts';
import { createAccessTokenVerifier, type IssuerPolicy, issuerPolicies } from '@clinical-launch/service';
import {
  aServiceRequest,
  createTestBacking,
  serveForTest,
  startTokenIssuer,
  TestClock,
} from '@clinical-launch/testing';
import { launchApi, readLaunchApiConfig } from '../src/index.ts';

export const audience = 'api://clinical-launch';

/** The challenge of the verifier `'v'.repeat(64)`. */
export const codeVerifier = 'v'.repeat(64);
export const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');

type StartOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly policies?: Readonly<Record<string, LaunchPolicy>>;
  readonly trustedIssuers?: readonly TrustedIssuer[];
};

/** Starts a launch API that trusts one identity provider, with the clients `pms` and `other`. */
export async function startLaunchApi({
  environment = {},
  policies = {},
  trustedIssuers = [],
}: StartOptions = {}) {
  const config = readLaunchApiConfig({ PUBLIC_URL: 'https://oltr.example', ...environment });
  const clock = new TestClock();
  const backing = createTestBacking(clock);
  const issuer = await startTokenIssuer({ clock, audience });
  const policy: IssuerPolicy = {
    issuer: issuer.issuer,
    audiences: [audience],
    rightClaims: ['scope', 'scp', 'roles'],
    requiresAccessTokenType: true,
    clients: new Map([
      ['pms', policies.pms ?? {}],
      ['other', policies.other ?? {}],
    ]),
  };
  const others = issuerPolicies(
    { realms: [], trustedIssuers: [...trustedIssuers] },
    { publicUrl: 'http://localhost', identityProviderUrl: 'http://localhost/idp', audience },
  );
  const tokens = createAccessTokenVerifier({ issuers: [policy, ...others], clock });
  const server = await serveForTest({
    mounts: [{ path: '/', service: launchApi(config, { ...backing, events: backing.bus, tokens }) }],
    backing,
  });
  const url = `${server.url}/AccessApi/RequestLaunchUrl`;

  return {
    ...backing,
    clock,
    issuer,
    url,
    /** Posts a payload as a PMS does; what a test gives replaces the good value. */
    async post({
      payload = aServiceRequest() as unknown,
      token,
      headers = {},
      query = '',
      body,
    }: {
      payload?: unknown;
      token?: string;
      headers?: Record<string, string>;
      query?: string;
      body?: string | Uint8Array<ArrayBuffer>;
    } = {}): Promise<Response> {
      return fetch(url + query, {
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

/** The faults of a 400, as a caller reads them. */
export async function faultsOf(response: Response): Promise<{ path: string; message: string }[]> {
  const { errors } = (await response.json()) as { errors: { path: string; message: string }[] };
  return errors;
}
