import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { type DescribedAnswers, describedAnswer, oauthRefusals } from '@clinical-launch/http/openapi/answers';
import { type Operation, type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import type { Grant } from '../grants/grant.ts';
import { introspectionRight } from '../http/introspect-token.ts';
import { clientForm, describedParameters, dpopHeader, examples, formBody } from './parameters.ts';

/** The differences between client realms and desktop realms. */
export type DescribedRealm = {
  readonly suffix: '' | 'InDesktopRealm';
  readonly isDesktop: boolean;
  readonly tag: string;
};

type DescribedGrants = readonly Pick<Grant, 'type' | 'clients' | 'parameters'>[];

/**
 * The client authentication: HTTP Basic, or no header. Without the header, the body or the certificate of the
 * connection authenticates the client.
 */
const clientAuthentication = [{ clientSecret: [] }, {}];

/** The challenge in a 401 for a request with an Authorization header (RFC 6749 section 5.2). */
const basicChallenge = {
  'WWW-Authenticate': {
    description: 'Only if the request had an Authorization header.',
    schema: { type: 'string', pattern: '^Basic ' },
  },
};

const tokenRefusals = (text: string): DescribedAnswers =>
  oauthRefusals({
    statuses: [400, 401, 404, 413, 429, 500, 503],
    texts: { 400: text, 401: 'The client is not authenticated.' },
    headers: { 401: basicChallenge },
  });

/** Describes the token endpoint (RFC 6749 section 3.2) with the grants of a kind of realm. */
export function tokenPath(realm: DescribedRealm, grants: DescribedGrants, defaultScope: string): PathItem {
  const offered = grants.filter(({ clients }) => realm.isDesktop || clients === 'confidential');
  const names = new Set(offered.flatMap((grant) => grant.parameters));
  const form = clientForm(
    {
      grant_type: { type: 'string', enum: offered.map(({ type }) => type) },
      ...describedParameters(names),
    },
    ['grant_type'],
  );
  const ofClient = { grant_type: 'client_credentials', ...examples.client, scope: defaultScope };
  const ofPartner = {
    code: examples.code,
    refresh: {
      grant_type: 'refresh_token',
      client_id: 'example-partner',
      refresh_token: 'the-refresh-token',
    },
  };
  return {
    post: {
      operationId: `requestToken${realm.suffix}`,
      summary: realm.isDesktop ? 'Exchange a code or a refresh token for tokens' : 'Get an access token',
      description: realm.isDesktop
        ? 'For partner applications, with a code or a refresh token. Clients of the realm may use client credentials.'
        : `For clients, with client credentials (RFC 6749 section 4.4). The scope is \`${defaultScope}\`: all rights of the client.`,
      tags: [realm.tag],
      security: clientAuthentication,
      ...(realm.isDesktop ? { parameters: [dpopHeader] } : {}),
      requestBody: formBody(form, realm.isDesktop ? ofPartner : { client: ofClient }),
      responses: {
        200: describedAnswer('The tokens.', {
          content: { 'application/json': { schema: schemaReference('Tokens') } },
        }),
        ...tokenRefusals('A parameter is missing or invalid, or the code or refresh token cannot be used.'),
      },
    },
  };
}

/** Describes the revocation endpoint (RFC 7009). */
export function revocationPath(realm: DescribedRealm): PathItem {
  const sent = realm.isDesktop ? { client_id: 'example-partner' } : examples.client;
  return {
    post: {
      operationId: `revokeToken${realm.suffix}`,
      summary: realm.isDesktop ? 'End a launch by one of its tokens' : 'Revoke an access token',
      description: 'The answer is the same for an inactive token.',
      tags: [realm.tag],
      security: clientAuthentication,
      requestBody: formBody(tokenForm(clientForm), { token: { ...sent, token: 'the-token' } }),
      responses: {
        200: describedAnswer('The token was revoked or already inactive.'),
        ...tokenRefusals('A parameter is missing or invalid, or the token belongs to another client.'),
      },
    },
  };
}

/** Describes the introspection endpoint (RFC 7662). */
export function introspectionPath(realm: DescribedRealm): PathItem {
  const plainForm = (properties: object, required: readonly string[]) => ({
    type: 'object',
    properties,
    required,
  });
  const operation: Operation = {
    operationId: `introspectToken${realm.suffix}`,
    summary: 'Check whether a token is active',
    description: `For resource servers, with an access token of this platform that has the right \`${introspectionRight}\`. The answer contains no patient data except the id of the FHIR Patient.`,
    tags: [realm.tag],
    security: [{ accessToken: [] }],
    requestBody: formBody(tokenForm(plainForm), { token: { token: 'the-token' } }),
    responses: {
      200: describedAnswer('Whether the token is active and, if so, its claims.', {
        content: { 'application/json': { schema: schemaReference('Introspection') } },
      }),
      ...oauthRefusals({ statuses: [400, 401, 403, 404, 413, 429, 500, 503], isChallenged: true }),
    },
  };
  return { post: operation };
}

const tokenForm = <Form>(
  make: (properties: Record<string, JsonSchema>, required: readonly string[]) => Form,
): Form => make(describedParameters(['token', 'token_type_hint']), ['token']);
