import { guidPattern } from '@clinical-launch/contracts';
import type { JsonSchema } from '@clinical-launch/contracts/published';

/** One answer of an operation, as OpenAPI 3.1 has it. */
export type DescribedAnswer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly content?: Readonly<Record<string, JsonSchema>>;
};

/** The answers of an operation, by status. */
export type DescribedAnswers = Readonly<Record<string, DescribedAnswer>>;

/** The headers that several answers have, by their names in `components.headers`. */
export const commonHeaders = {
  CorrelationId: {
    description: 'The GUID of the request, or of the launch that it belongs to: log and audit trail have it.',
    required: true,
    schema: { type: 'string', pattern: guidPattern },
  },
  NotStored: {
    description: 'The answer must not be stored.',
    required: true,
    schema: { const: 'no-store' },
  },
  Stored: {
    description: 'Caches may keep the answer for so many seconds.',
    required: true,
    schema: { type: 'string', pattern: '^public, max-age=\\d+$' },
  },
  RetryAfter: {
    description: 'Seconds to wait.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  Challenge: {
    description: 'How to authenticate, and why the token is refused (RFC 6750 section 3).',
    required: true,
    schema: { type: 'string', pattern: '^Bearer' },
  },
};

const headerReference = (name: keyof typeof commonHeaders) => ({ $ref: `#/components/headers/${name}` });

type AnswerOptions = Pick<DescribedAnswer, 'headers' | 'content'> & {
  /** Whether caches may keep it. */
  readonly isStored?: boolean;
};

/** Describes an answer, with the headers that all answers have. */
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
    ...(content === undefined ? {} : { content }),
  };
}

const retryAfter = { 'Retry-After': headerReference('RetryAfter') };
const closes = {
  Connection: { description: 'The body was not read.', required: true, schema: { const: 'close' } },
};
const challenge = { 'WWW-Authenticate': headerReference('Challenge') };

/** What each refusal and failure means everywhere, with the headers that it has everywhere. */
const meanings: Readonly<
  Record<number, { readonly text: string; readonly headers?: AnswerOptions['headers'] }>
> = {
  400: { text: 'The request is invalid.' },
  401: { text: 'The request is not authenticated.' },
  403: { text: 'The token is valid, but its client does not have the right that this needs.' },
  404: { text: 'There is no such realm, or nothing of this name in it.' },
  409: { text: 'The identifier of the caller was used before.' },
  410: { text: 'The launch token was already used.' },
  413: { text: 'The body is too large.', headers: closes },
  415: { text: 'The body is of another media type, charset or encoding than this takes.' },
  429: { text: 'Too many requests: wait as long as `Retry-After` says.', headers: retryAfter },
  500: { text: 'Something failed. Report the correlation id to support.' },
  503: { text: 'A part of the platform does not answer. Try again.', headers: retryAfter },
};

type RefusalOptions = {
  readonly statuses: readonly number[];
  /** What a status means here, where that is more exact. */
  readonly texts?: Readonly<Record<number, string>>;
  /** Whether a 401 has a Bearer challenge. */
  readonly isChallenged?: boolean;
  /** Further headers of a status. */
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
        ...(content === undefined ? {} : { content }),
      });
      return [status, described];
    }),
  );
}

/** Describes refusals as the dialect of the launch API answers them: problem details, or no body. */
export function problemRefusals(
  options: RefusalOptions & {
    readonly hasBody: (status: number) => boolean;
  },
): DescribedAnswers {
  return refusals(options, (status) =>
    options.hasBody(status)
      ? {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
          'application/fhir+json': { schema: { $ref: '#/components/schemas/OperationOutcome' } },
        }
      : undefined,
  );
}

/** Describes refusals as the dialect of OAuth answers them. */
export function oauthRefusals(options: RefusalOptions): DescribedAnswers {
  return refusals(options, () => ({
    'application/json': { schema: { $ref: '#/components/schemas/Error' } },
  }));
}
