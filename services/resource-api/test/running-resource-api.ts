import { randomBytes, randomUUID } from 'node:crypto';
import { placeOfTokenContext } from '@clinical-launch/crypto/seal-places';
import { createSealer, type Sealer } from '@clinical-launch/crypto/sealing';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { createTestBacking, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { ResourceApiConfig } from '../src/config.ts';
import { resourceApi } from '../src/service.ts';

export const audience = 'api://clinical-launch';

/** The context of a launch, which the identity provider encrypts in the access token. */
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
  readonly config?: Partial<ResourceApiConfig>;
  /** Wraps the ticket store of the service. */
  readonly watch?: (tickets: Tickets) => Pick<Tickets, 'isChainRevoked' | 'useChain'>;
};

/** Starts a resource API that trusts one desktop realm. The test signs its tokens. */
export async function startResourceApi({ config = {}, watch = (tickets) => tickets }: StartOptions = {}) {
  const clock = new TestClock();
  const backing = createTestBacking(clock);
  const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
  const issuer = await startTokenIssuer({ clock, audience });
  const policies = new Map([
    ['partner', { grants: [], policy: {} }],
    ['partner-limited', { grants: [], policy: { requestsPerSecond: 2 } }],
  ]);
  const tokens = createAccessTokenVerifier({
    issuers: [
      {
        issuer: issuer.issuer,
        audiences: [audience],
        rightClaims: ['scope'],
        isConfigured: false,
        requiresAccessTokenType: true,
        clientIdClaims: ['client_id'],
        requiresKeyId: true,
        clients: policies,
      },
    ],
    clock,
    fetchOutbound: createOutboundFetch({ allowedNetworks: loopbackNetworks }),
  });
  const parts = {
    ...backing,
    tokens,
    sealers: { 'access-token': sealer },
    tickets: watch(backing.tickets),
  };
  let url = '';
  const addressed = {
    ...config,
    // The address is known only after the server has started to listen.
    get publicUrl() {
      return url;
    },
  };
  const server = await serveForTest({
    mounts: [{ path: '/', service: resourceApi(addressed, parts) }],
    backing,
  });
  ({ url } = server);

  /** Encrypts a context for the token with these claims, as the identity provider does. */
  const sealContext = (
    { jti, sid }: { jti?: unknown; sid?: unknown },
    { context = aContext, by = sealer }: { context?: object; by?: Sealer } = {},
  ) => {
    const place = placeOfTokenContext({ tokenId: String(jti), launchId: String(sid) });
    return by.seal('access-token-context', context, place);
  };

  const sign = (
    claims: Record<string, unknown> = {},
    { header = {}, key = issuer.key }: { header?: Record<string, unknown>; key?: TestKey } = {},
  ) => {
    const ids = { jti: randomUUID(), sid: randomUUID(), ...claims };
    return issuer.sign({
      header,
      key,
      claims: {
        client_id: 'partner',
        sub: aContext.user.userERN,
        scope: 'openid launch resource.read',
        authorizations: ['agmt-agmt.read', 'clinical-cr.read'],
        launch_context: sealContext(ids),
        ...ids,
      },
    });
  };

  return {
    ...backing,
    clock,
    issuer,
    sealer,
    url: server.url,
    sealContext,
    /** Signs an access token that is valid except for the given changes. */
    sign,
    /** Reads a resource with a valid token, with the given token, or with none if it is null. */
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
