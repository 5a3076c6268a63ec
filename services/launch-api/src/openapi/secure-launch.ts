import { codeChallengePattern, launchVerifierForm } from '@clinical-launch/contracts/formats';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { hasProblemBody } from '@clinical-launch/http/errors';
import { describedAnswer, problemRefusals } from '@clinical-launch/http/openapi/answers';
import type { Operation, PathItem } from '@clinical-launch/http/openapi/document';
import type { LaunchApiConfig } from '../config.ts';

/** A code verifier and its challenge (RFC 7636 appendix B). */
const example = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};

/** Describes the header with the code challenge, and the other headers and fields that may contain it. */
export function challengeParameter({
  headers,
  fields,
}: {
  headers: readonly string[];
  fields: readonly string[];
}): JsonSchema {
  const others = headers.slice(1).map((name) => `\`${name}\``);
  const names = fields.map((name) => `\`${name}\``);
  return {
    name: 'Code-Challenge',
    in: 'header',
    required: true,
    description: `The code challenge with the method S256 (RFC 7636): the SHA-256 of the code verifier in Base64URL, without padding. Also accepted in the headers ${others.join(', ')}, and as ${names.join(', ')} in the query or the body. Different values are refused.`,
    schema: { type: 'string', pattern: codeChallengePattern },
    example: example.challenge,
  };
}

const parameters = {
  launchToken: { type: 'string', description: 'The launch token from the launch URL.' },
  codeVerifier: {
    type: 'string',
    pattern: `^${launchVerifierForm}={0,2}$`,
    description: 'The code verifier: the Base64URL encoding of 64 to 128 random bytes.',
  },
};

const examples: Readonly<Record<string, string>> = {
  launchToken: 'q2N0cGV4YW1wbGUtbGF1bmNoLXRva2Vu',
  codeVerifier: example.verifier,
};

/** Describes the launch URL itself (OLTR: Launch the OLTR system), which the launch gateway serves. */
export function secureLaunchPath({ oltrServer, publicUrl, isProduction }: LaunchApiConfig): PathItem {
  return {
    ...(oltrServer === publicUrl ? {} : { servers: [{ url: oltrServer }] }),
    get: {
      ...operation({ isProduction }),
      operationId: 'openLaunchUrl',
      summary: 'Open a launch URL',
      parameters: Object.entries(parameters).map(([name, { description, ...schema }]) => ({
        name,
        in: 'query',
        required: true,
        description,
        schema,
        example: examples[name],
      })),
    },
    post: {
      ...operation({ isProduction }),
      operationId: 'postLaunchUrl',
      summary: 'Open a launch URL without the code verifier in the address',
      requestBody: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: { type: 'object', properties: parameters, required: Object.keys(parameters) },
            example: examples,
          },
        },
      },
    },
  };
}

const operation = (config: { isProduction: boolean }): Omit<Operation, 'operationId' | 'summary'> => ({
  tags: ['Launch'],
  description:
    'For the browser of the user. Uses up the launch token. Prefetches, previews, images and scripts (`Sec-Fetch-Dest`) are refused, and leave the launch token usable. So is a GET without `Sec-Fetch-Mode: navigate`, if the client registered `requireNavigation`. If the client registered a `launchErrorPage`, a browser is redirected there (303) instead of 401 or 410, with `reference` and `reason` in the query.',
  security: [],
  responses: {
    200: describedAnswer('The page that opens the OLTR application.', {
      headers: {
        'Set-Cookie': { description: 'The launch session.', required: true, schema: { type: 'string' } },
      },
      content: { 'text/html': { schema: { type: 'string' } } },
    }),
    ...problemRefusals({
      statuses: [401, 410, 429, 500, 503],
      hasBody: (status) => hasProblemBody(status, config),
      texts: {
        401: 'A parameter is missing, the launch token is unknown or has expired, or the code verifier does not match.',
      },
    }),
  },
});
