import { exampleLaunch } from '@clinical-launch/contracts/published/example-service-request';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { type DescribedAnswers, describedAnswer, oauthRefusals } from '@clinical-launch/http/openapi/answers';
import { type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import { endingBody } from '../http/end-launches.ts';
import { hostRight, launchBody } from '../http/issue-launch.ts';
import {
  authorizationProperties,
  authorizationRequest,
  clientForm,
  dpopHeader,
  examples,
  formBody,
} from './parameters.ts';

const tag = 'Desktop launch';
const hostRefusals = (statuses: readonly number[]): DescribedAnswers =>
  oauthRefusals({ statuses, isChallenged: true });

/** Describes the endpoint at which a host application requests a launch identifier. */
export const launchesPath: PathItem = {
  post: {
    operationId: 'issueLaunch',
    summary: 'Get a launch identifier for a partner application',
    description: `For host applications, with an access token of this platform that has the right \`${hostRight}\`. The launch identifier refers to the user, the organisation and the patient.`,
    tags: [tag],
    security: [{ accessToken: [] }],
    requestBody: {
      description: `At most ${launchBody.limitBytes} bytes of UTF-8. National identifiers must be valid, and the date of birth must not be in the future or more than 140 years ago.`,
      required: true,
      content: {
        'application/json': { schema: schemaReference('Launch'), example: exampleLaunch('example-partner') },
      },
    },
    responses: {
      201: describedAnswer('The launch identifier.', {
        content: { 'application/json': { schema: schemaReference('IssuedLaunch') } },
      }),
      ...hostRefusals([400, 401, 403, 404, 413, 415, 429, 500, 503]),
    },
  },
};

/** Describes the endpoint at which a host application ends a launch. */
export const launchPath: PathItem = {
  delete: {
    operationId: 'endLaunch',
    summary: 'End a launch',
    description:
      'Revokes all codes and tokens of the launch. The answer is the same if the launch has already ended.',
    tags: [tag],
    security: [{ accessToken: [] }],
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'The `X-Correlation-Id` of the answer that issued the launch, or the launch identifier.',
        schema: { type: 'string' },
        example: 'a5cf3b1e-5f0c-4e0f-9c58-0d7f6a3e1b42',
      },
    ],
    responses: {
      204: describedAnswer('The launch has ended.'),
      ...hostRefusals([401, 403, 404, 429, 500, 503]),
    },
  },
};

/** Describes the endpoint at which a host application ends many launches. */
export const endLaunchesPath: PathItem = {
  post: {
    operationId: 'endLaunches',
    summary: 'End all launches of a user, a practice or a partner application',
    description:
      'Ends your live launches that match every selector: `user` is `user.userERN` in any case, `practice` is `organisation.ods`, `partner` is `client_id`. A launch issued before the request is ended; a launch issued after the answer is not. `reason` is for the audit trail and must not identify a patient.',
    tags: [tag],
    security: [{ accessToken: [] }],
    requestBody: {
      description: `At least one selector, in at most ${endingBody.limitBytes} bytes of UTF-8.`,
      required: true,
      content: {
        'application/json': {
          schema: schemaReference('LaunchSelection'),
          example: { user: 'ern:example:user:1', reason: 'Has left the practice' },
        },
      },
    },
    responses: {
      200: describedAnswer('The launches have ended.', {
        content: { 'application/json': { schema: schemaReference('EndedLaunches') } },
      }),
      ...hostRefusals([400, 401, 403, 404, 413, 415, 429, 500, 503]),
    },
  },
};

const redirect = describedAnswer('The redirect to the partner application.', {
  headers: {
    Location: {
      description:
        'The redirect URI with `code`, the `state` of the request and, unless the realm disables it, `iss`.',
      required: true,
      schema: { type: 'string' },
    },
    'Referrer-Policy': {
      description: 'Always `no-referrer`.',
      required: true,
      schema: { const: 'no-referrer' },
    },
  },
});

/**
 * Describes refusals as JSON or as a page, but never as a redirect. The status 500 is `default`, because
 * linters require a 2xx or `default` and the success is a redirect.
 */
function authorizeRefusals(statuses: readonly number[]): DescribedAnswers {
  return Object.fromEntries(
    Object.entries(oauthRefusals({ statuses })).map(([status, { content, ...answer }]) => [
      status === '500' ? 'default' : status,
      { ...answer, content: { ...content, 'text/html': { schema: { type: 'string' } } } },
    ]),
  );
}

const requestUri: JsonSchema = {
  type: 'string',
  description:
    'The `request_uri` of a pushed request. If present, all other parameters except `client_id` are ignored.',
};

const pushedReference: JsonSchema = {
  type: 'object',
  properties: { client_id: authorizationProperties['client_id'], request_uri: requestUri },
  required: ['client_id', 'request_uri'],
};

/** Describes the authorization endpoint (Desktop: Authorization endpoint; RFC 6749 section 4.1.1). */
export const authorizePath: PathItem = {
  get: {
    operationId: 'authorizeByGet',
    summary: 'Exchange a launch identifier for a code',
    description: 'Every parameter is required, unless the request was pushed.',
    tags: [tag],
    security: [],
    parameters: [...Object.entries(authorizationProperties), ['request_uri', requestUri] as const].map(
      ([name, { description, ...schema } = {}]) => ({
        name,
        in: 'query',
        required: name === 'client_id',
        description,
        schema,
        ...(name in examples.authorization ? { example: exampleOf(name) } : {}),
      }),
    ),
    responses: { 302: redirect, ...authorizeRefusals([400, 404, 429, 500, 503]) },
  },
  post: {
    operationId: 'authorize',
    summary: 'Exchange a launch identifier for a code, with a form',
    description: 'A complete authorization request, or the reference to a pushed request.',
    tags: [tag],
    security: [],
    requestBody: formBody(
      { anyOf: [schemaReference('AuthorizationRequest'), schemaReference('PushedReference')] },
      { plain: examples.authorization },
    ),
    responses: { 302: redirect, ...authorizeRefusals([400, 404, 413, 429, 500, 503]) },
  },
};

function exampleOf(name: string): string | undefined {
  return Object.entries(examples.authorization).find(([one]) => one === name)?.[1];
}

/** Describes the pushed authorization request endpoint (RFC 9126). */
export const pushPath: PathItem = {
  post: {
    operationId: 'pushAuthorizationRequest',
    summary: 'Push an authorization request',
    description:
      'Each launch has one pushed request, of at most 4,096 bytes. A newer one replaces it. A launch may push ten requests a minute.',
    tags: [tag],
    security: [{}],
    parameters: [dpopHeader],
    requestBody: formBody(clientForm(authorizationProperties, requiredOf(authorizationRequest)), {
      plain: examples.authorization,
    }),
    responses: {
      201: describedAnswer('The reference to the stored request.', {
        content: { 'application/json': { schema: schemaReference('PushedRequest') } },
      }),
      ...oauthRefusals({ statuses: [400, 401, 404, 413, 429, 500, 503] }),
    },
  },
};

function requiredOf({ required }: JsonSchema): string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

export const desktopSchemas = {
  AuthorizationRequest: authorizationRequest,
  PushedReference: pushedReference,
};
