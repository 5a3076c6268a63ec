import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { guidPattern, withoutUndefined } from '@clinical-launch/contracts/schema';

/** A response of an operation in OpenAPI 3.1. */
export type DescribedAnswer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly content?: Readonly<Record<string, JsonSchema>>;
};

/** The responses of an operation by status. */
export type DescribedAnswers = Readonly<Record<string, DescribedAnswer>>;

/** The headers of several responses, by their names in `components.headers`. */
export const commonHeaders = {
  CorrelationId: {
    description:
      'The GUID of the request, or of the launch that it belongs to. The log and the audit trail contain the same GUID.',
    required: true,
    schema: { type: 'string', pattern: guidPattern },
  },
  NotStored: {
    description: 'Caches must not store the response.',
    required: true,
    schema: { const: 'no-store' },
  },
  Stored: {
    description: 'Caches may store the response for `max-age` seconds.',
    required: true,
    schema: { type: 'string', pattern: '^public, max-age=\\d+$' },
  },
  RetryAfter: {
    description: 'The number of seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  Refusal: {
    description:
      'The code of the refusal, because the response has no body. `docs/reference/errors.md` explains each code.',
    required: true,
    schema: { type: 'string', pattern: '^[a-z_]+$' },
  },
  Challenge: {
    description:
      'The required authentication scheme and, if a token was refused, the reason (RFC 6750 section 3).',
    required: true,
    schema: { type: 'string', pattern: '^Bearer' },
  },
};

const headerReference = (name: keyof typeof commonHeaders) => ({ $ref: `#/components/headers/${name}` });

type AnswerOptions = Pick<DescribedAnswer, 'headers' | 'content'> & {
  /** If true, caches may store the response. */
  readonly isStored?: boolean;
};

/** Describes a response, including the headers that every response contains. */
export function describedAnswer(
  description: string,
  { headers = {}, content, isStored = false }: AnswerOptions = {},
): DescribedAnswer {
  return {
    description,
    headers: {
      'X-Correlation-Id': headerReference('CorrelationId'),
      'Cache-Control': headerReference(isStored ? 'Stored' : 'NotStored'),
      ...headers,
    },
    ...withoutUndefined({ content }),
  };
}

const retryAfter = { 'Retry-After': headerReference('RetryAfter') };
const closes = {
  Connection: {
    description: 'The server closes the connection, because it did not read the whole body.',
    required: true,
    schema: { const: 'close' },
  },
};
const challenge = { 'WWW-Authenticate': headerReference('Challenge') };

/** The default description and headers of each error status. */
const meanings: Readonly<
  Record<number, { readonly text: string; readonly headers?: AnswerOptions['headers'] }>
> = {
  400: { text: 'The request is invalid.' },
  401: { text: 'The request is not authenticated.' },
  403: { text: 'The token is valid, but its client does not have the required right.' },
  404: { text: 'The realm or the resource was not found.' },
  409: { text: 'The identifier of the caller was already used.' },
  410: { text: 'The launch token was already used.' },
  413: { text: 'The body is too large.', headers: closes },
  415: {
    text: 'The media type, charset or encoding of the body is not accepted. `Accept-Post` or `Accept-Encoding` names what is.',
  },
  429: { text: 'Too many requests. Wait for the seconds in `Retry-After`.', headers: retryAfter },
  500: { text: 'The request failed because of an error on our side. Report the correlation id to support.' },
  503: { text: 'A part of the platform is unavailable. Try again.', headers: retryAfter },
};

type RefusalOptions = {
  readonly statuses: readonly number[];
  /** Descriptions of a status that are more specific than the default. */
  readonly texts?: Readonly<Record<number, string>>;
  /** If true, a 401 contains a Bearer challenge. */
  readonly isChallenged?: boolean;
  readonly headers?: Readonly<Record<number, DescribedAnswer['headers']>>;
};

function refusals(
  { statuses, texts = {}, isChallenged = false, headers: further = {} }: RefusalOptions,
  contentOf: (status: number) => DescribedAnswer['content'],
): DescribedAnswers {
  return Object.fromEntries(
    statuses.map((status) => {
      const { text = '', headers } = meanings[status] ?? {};
      const content = contentOf(status);
      const described = describedAnswer(texts[status] ?? text, {
        headers: { ...headers, ...further[status], ...(status === 401 && isChallenged ? challenge : {}) },
        ...withoutUndefined({ content }),
      });
      return [status, described];
    }),
  );
}

/** Describes the error responses of the launch API. They contain problem details or no body. */
export function problemRefusals(
  options: RefusalOptions & {
    readonly hasBody: (status: number) => boolean;
  },
): DescribedAnswers {
  const withReason = options.statuses
    .filter((status) => !options.hasBody(status) && status < 500)
    .map((status) => [
      status,
      { 'Launch-Refusal': headerReference('Refusal'), ...options.headers?.[status] },
    ]);
  const described = { ...options, headers: { ...options.headers, ...Object.fromEntries(withReason) } };
  return refusals(described, (status) =>
    options.hasBody(status)
      ? {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
          'application/fhir+json': { schema: { $ref: '#/components/schemas/OperationOutcome' } },
        }
      : undefined,
  );
}

/** Describes error responses of OAuth endpoints. */
export function oauthRefusals(options: RefusalOptions): DescribedAnswers {
  return refusals(options, () => ({
    'application/json': { schema: { $ref: '#/components/schemas/Error' } },
  }));
}

/** Describes error responses of FHIR endpoints. */
export function fhirRefusals(options: RefusalOptions): DescribedAnswers {
  return refusals(options, () => ({
    'application/fhir+json': { schema: { $ref: '#/components/schemas/OperationOutcome' } },
  }));
}
