import { exampleServiceRequest } from '@clinical-launch/contracts/published/example-service-request';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import {
  serviceRequestDocument,
  serviceRequestSchemas,
} from '@clinical-launch/contracts/published/service-request';
import { hasProblemBody } from '@clinical-launch/http/errors';
import { describedAnswer, problemRefusals } from '@clinical-launch/http/openapi/answers';
import { openApiDocument, type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import { operationOutcomeSchema, problemSchema } from '@clinical-launch/http/openapi/error-schemas';
import type { LaunchApiConfig } from '../config.ts';
import {
  addresses,
  challengeNames,
  maxPayloadBytes,
  payloadTypes,
  requiredRight,
} from '../http/check-launch.ts';
import { launchUrlAnswer } from '../http/request-launch-url.ts';
import { validateAnswer } from '../http/validate.ts';
import { challengeParameter, secureLaunchPath } from './secure-launch.ts';

const description = `Launches online test requesting (OLTR) for a patient, from the backend of a practice management system.

1. Get an access token with the right \`${requiredRight}\`: see \`/idp/openapi.json\`.
2. Create a code verifier, and post the ServiceRequest with its code challenge to RequestLaunchUrl.
3. Append the code verifier to the launch URL, and open it in the browser of the user.

Every answer contains the header \`X-Correlation-Id\`. Other methods are answered with 405 and \`Allow\`.`;

/** Returns the OpenAPI document of the launch API and of its launch URLs. */
export function launchApiDocument(config: LaunchApiConfig): JsonSchema {
  return openApiDocument({
    title: 'Clinical Launch: launch API',
    description,
    tags: {
      Launch: 'From the backend of a practice management system to the browser of its user.',
      Schemas: 'The formats of requests and results.',
    },
    paths: {
      [addresses.requestLaunchUrl]: launchPath(config, {
        operationId: 'requestLaunchUrl',
        summary: 'Request a launch URL',
        description: `Checks the request, stores its context, and returns a launch URL. The URL can be opened once, within ${config.launchTokenSeconds} seconds.`,
        answer: 'LaunchUrl',
        statuses: [400, 401, 403, 409, 413, 415, 429, 500, 503],
      }),
      [addresses.validate]: launchPath(config, {
        operationId: 'validate',
        summary: 'Check a request for a launch URL',
        description:
          'Runs the checks of RequestLaunchUrl without creating a launch token. The identifier can still be used.',
        answer: 'Validation',
        statuses: [400, 401, 403, 413, 415, 429, 500, 503],
      }),
      '/secureLaunch': secureLaunchPath(config),
      [addresses.payloadSchema]: schemaPath('application/schema+json', {
        operationId: 'getPayloadSchema',
        summary: 'Get the JSON Schema of the ServiceRequest',
      }),
      [addresses.orderSchema]: schemaPath('application/xml', {
        operationId: 'getOrderSchema',
        summary: 'Get the XML Schema of the returned order document',
      }),
    },
    schemas: {
      ...serviceRequestSchemas(config.namespaces, schemaReference),
      LaunchUrl: launchUrlAnswer,
      Validation: validateAnswer,
      Problem: problemSchema,
      OperationOutcome: operationOutcomeSchema,
    },
    securitySchemes: {
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `An access token with the right \`${requiredRight}\`, of this platform or of a trusted issuer.`,
      },
    },
    externalDocs: {
      description: 'The JSON Schema of the ServiceRequest',
      url: addresses.payloadSchema,
    },
  });
}

/** Returns the JSON Schema of the payload as a separate document. */
export function payloadSchemaDocument({ publicUrl, namespaces }: LaunchApiConfig): JsonSchema {
  return serviceRequestDocument(namespaces, `${publicUrl}${addresses.payloadSchema}`);
}

type LaunchOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly answer: string;
  readonly statuses: readonly number[];
};

function launchPath(
  config: LaunchApiConfig,
  { operationId, summary, description: text, answer, statuses }: LaunchOperation,
): PathItem {
  const example = exampleServiceRequest(config.namespaces);
  const media = { schema: schemaReference('ServiceRequest'), example };
  return {
    post: {
      operationId,
      summary,
      description: text,
      tags: ['Launch'],
      security: [{ accessToken: [] }],
      parameters: [challengeParameter(challengeNames)],
      requestBody: {
        description: `At most ${maxPayloadBytes} bytes of UTF-8.`,
        required: true,
        content: Object.fromEntries(payloadTypes.map((type) => [type, media])),
      },
      responses: {
        200: describedAnswer('The request is valid.', {
          content: { 'application/json': { schema: schemaReference(answer) } },
        }),
        ...problemRefusals({
          statuses,
          isChallenged: true,
          hasBody: (status) => hasProblemBody(status, config),
          texts: {
            400: 'The payload or the code challenge is invalid. `errors` lists every error at once.',
            429: 'Too many requests from this client, or too many refused requests from this address. Wait for the seconds in `Retry-After`.',
          },
        }),
      },
    },
  };
}

function schemaPath(
  type: string,
  operation: { readonly operationId: string; readonly summary: string },
): PathItem {
  return {
    get: {
      ...operation,
      tags: ['Schemas'],
      security: [],
      responses: {
        200: describedAnswer('The schema.', { isStored: true, content: { [type]: { schema: {} } } }),
      },
    },
  };
}
