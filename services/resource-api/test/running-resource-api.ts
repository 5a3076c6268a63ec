import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '@clinical-launch/contracts';
import { createAccessTokenVerifier } from '@clinical-launch/service';
import {
  createTestBacking,
  serveForTest,
  startTokenIssuer,
  TestClock,
  type TestKey,
} from '@clinical-launch/testing';
import type { Tickets } from '@clinical-launch/tickets';
import { type ResourceApiConfig, resourceApi } from '../src/index.ts';

export const audience = 'api://clinical-launch';

/** The context of a launch, as the identity provider seals it into the access token. */
export const aContext = {
  user: {
    userERN: 'ern:demo:user:7f3',
    email: 'a.okonkwo@example.org',
    title: 'Dr',
    firstName: 'Adaeze',
    familyName: 'Okonkwo',
  },
  organisation: { orgERN: 'ern:demo:org:1', orgName: 'Harbour Surgery', cdb: '4711', ods: 'B82017' },
  patient: {
    title: 'Mr',
    forenames: 'Cathal',
    surname: 'Ó Súilleabháin',
    gender: 'Male',
    dob: '03-Nov-1987',
    'patient-identifiers': [{ identifierType: 'NHS Number', identifierValue: '9434765870' }],
    'address-details': [{ addressLine1: '' }],
    'contact-details': [],
  },
};

type StartOptions = {
  readonly config?: ResourceApiConfig;
  /** Stands between the service and its tickets. */
  readonly watch?: (tickets: Tickets) => Pick<Tickets, 'isChainRevoked'>;
};

/** Starts a resource API that trusts one desktop realm, whose tokens the test makes. */
export async function startResourceApi({ config = {}, watch = (tickets) => tickets }: StartOptions = {}) {
  const clock = new TestClock();
  const backing = createTestBacking(clock);
  const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
  const issuer = await startTokenIssuer({ clock, audience });
  const policies = new Map([
    ['partner', {}],
    ['partner-limited', { requestsPerSecond: 2 }],
  ]);
  const tokens = createAccessTokenVerifier({
    issuers: [
      {
        issuer: issuer.issuer,
        audiences: [audience],
        rightClaims: ['scope'],
        requiresAccessTokenType: true,
        clients: policies,
      },
    ],
    clock,
  });
  const parts = { ...backing, tokens, sealer, events: backing.bus, tickets: watch(backing.tickets) };
  const server = await serveForTest({
    mounts: [{ path: '/', service: resourceApi(config, parts) }],
    backing,
  });

  const sign = (
    claims: Record<string, unknown> = {},
    { header = {}, key = issuer.key }: { header?: Record<string, unknown>; key?: TestKey } = {},
  ) =>
    issuer.sign({
      header,
      key,
      claims: {
        client_id: 'partner',
        sub: aContext.user.userERN,
        scope: 'openid launch resource.read',
        jti: randomUUID(),
        sid: randomUUID(),
        authorizations: ['agmt-agmt.read', 'clinical-cr.read'],
        launch_context: sealer.seal('access-token-context', aContext),
        ...claims,
      },
    });

  return {
    ...backing,
    clock,
    issuer,
    sealer,
    url: server.url,
    /** An access token that is good but for what the test changes. */
    sign,
    /** Reads a resource; with a good token unless another is given, or none at all. */
    async get(name: string, { token, method = 'GET' }: { token?: string | null; method?: string } = {}) {
      const bearer = token === undefined ? await sign() : token;
      const headers: Record<string, string> = bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
      return fetch(`${server.url}/resource/${name}`, { method, headers });
    },
    async stop() {
      await server.stop();
      await issuer.stop();
    },
  };
}
