import { faultCodes } from '@clinical-launch/contracts/fault';
import { guidPattern } from '@clinical-launch/contracts/schema';
import { optionalText, type Static, Type } from '@clinical-launch/contracts/type';

const guid = Type.String({
  pattern: guidPattern,
  description: 'The GUID of the request, as in `X-Correlation-Id`. Give it to support.',
});

/** An entry of `errors` in a 400 answer. */
export const faultSchema = Type.Object({
  path: Type.String({
    description:
      'The path of the faulty member, such as `contained[1].name[0].family`, or the name of a header or parameter. Empty if the whole body is faulty.',
  }),
  message: Type.String({
    description:
      'What to send instead. If `path` is not empty, it is the subject of this sentence: "must be a date that exists".',
  }),
  code: Type.Enum([...faultCodes], {
    description: 'The kind of fault. `docs/reference/errors.md` explains each code.',
  }),
  resource: optionalText({
    description: 'The FHIR resource that contains the fault, such as `Patient #patient`.',
  }),
});

/** Problem details (RFC 9457). */
export const problemSchema = Type.Object({
  type: Type.Literal('about:blank'),
  title: Type.String(),
  status: Type.Integer(),
  correlationId: guid,
  errors: Type.Optional(
    Type.Array(faultSchema, { description: 'All faults of the request. Present only if the status is 400.' }),
  ),
});
export type Problem = Static<typeof problemSchema>;

/** The errors as an OperationOutcome (FHIR R4), for `Accept: application/fhir+json`. */
export const operationOutcomeSchema = Type.Object({
  resourceType: Type.Literal('OperationOutcome'),
  id: guid,
  issue: Type.Array(
    Type.Object({
      severity: Type.Literal('error'),
      code: Type.String({ description: 'A code of the FHIR R4 value set issue-type.' }),
      details: Type.Optional(Type.Object({ text: Type.String() })),
      diagnostics: Type.String(),
      expression: Type.Optional(
        Type.Array(Type.String({ description: 'The FHIRPath of the faulty element.' })),
      ),
      location: Type.Optional(
        Type.Array(
          Type.String({ description: '`http.` followed by the name of the faulty header or parameter.' }),
        ),
      ),
    }),
    { minItems: 1 },
  ),
});

/** An error of OAuth 2.0 (RFC 6749 section 5.2). */
export const oauthErrorSchema = Type.Object({
  error: Type.String({
    description:
      'An error code of RFC 6749 or its extensions. `docs/reference/errors.md` explains each code.',
  }),
  error_description: Type.String({
    description: 'A sentence for developers, which may change. Programs must compare `error` instead.',
  }),
  correlation_id: guid,
  errors: Type.Optional(Type.Array(faultSchema, { description: 'All faults of a JSON body.' })),
});
export type OAuthError = Static<typeof oauthErrorSchema>;
