import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type LaunchContext, navigationChallenge } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { expect } from '@jest/globals';
import { readLaunchGatewayConfig } from '../src/config.ts';
import { launchGateway } from '../src/service.ts';

type StartOptions = { readonly publicUrl?: string };

type IssueOptions = {
  readonly verifier?: string;
  readonly challenge?: string;
  readonly frameAncestors?: string[];
  readonly errorPage?: string;
  readonly requiresNavigation?: boolean;
};

/** Starts a launch gateway with in-memory dependencies. */
export async function startGateway({ publicUrl = 'http://localhost' }: StartOptions = {}) {
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const config = readLaunchGatewayConfig({ PUBLIC_URL: publicUrl });
  const service = launchGateway(config, dependencies);
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });

  return {
    ...dependencies,
    clock,
    url: `${server.url}/secureLaunch`,
    stop: () => server.stop(),
    /** Issues a launch token and a code verifier, as the launch API does. */
    async issue({
      verifier = randomBytes(64).toString('base64url'),
      challenge = sha256(verifier),
      frameAncestors = [] as string[],
      errorPage,
      requiresNavigation,
    }: IssueOptions = {}) {
      const launchId = randomUUID();
      const context: LaunchContext = {
        launchId,
        issuedAt: clock.now(),
        client: { issuer: 'i', clientId: 'pms', frameAncestors },
        request,
      };
      const issued = await dependencies.tickets.issue('launch-token', {
        context,
        challenge: requiresNavigation ? navigationChallenge(challenge) : challenge,
        ttlSeconds: 10,
        ...(errorPage === undefined && requiresNavigation === undefined
          ? {}
          : { notice: { content: withoutUndefined({ errorPage, requiresNavigation }), ttlSeconds: 3600 } }),
        correlationId: launchId,
        events: [],
      });
      if (issued.outcome !== 'issued') throw new Error(issued.outcome);
      return { launchToken: issued.ticket, codeVerifier: verifier, launchId };
    },
  };
}

export const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('base64url');

const name = { family: 'Whitfield', given: ['Margaret'] };
const organization = {
  identifier: { system: 'local-org-code' as const, value: 'P1' },
  name: 'Harbour Surgery',
};
/** The stored payload of every launch. */
export const request: LaunchContext['request'] = {
  action: 'OrderTest',
  originatingId: 'HS-1',
  authoredOn: '2026-03-02T09:30:00Z',
  author: { username: 'a.okonkwo', name },
  patient: {
    name,
    birthDate: '1958-02-28',
    gender: 'female',
    address: { lines: [] },
    identifiers: [],
    telecom: [],
  },
  requester: { identifier: { system: 'local-staff-code', value: 'S1' }, name },
  practice: organization,
  performer: organization,
};

/** Expects a refusal without a body, as the specification requires. */
export async function expectEmpty(response: Response, status: number, unauthorized = 'not_valid') {
  expect([response.status, await response.text()]).toEqual([status, '']);
  expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  // Every 401 to a whole request has the same reason, so that the answer does not reveal whether the launch
  // token is valid.
  const reason = { 401: unauthorized, 410: 'token_used' }[status];
  if (reason !== undefined) expect(response.headers.get('launch-refusal')).toBe(reason);
}
