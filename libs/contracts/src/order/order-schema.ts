import { type TProperties, Type } from 'typebox';
import { compileSchema, guidPattern } from '../schema.ts';
import type { Order } from './order.ts';

const closed = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

const guid = Type.String({ pattern: guidPattern });
const word = Type.String({ minLength: 1 });
const isoTime = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$',
});
const status = Type.Enum(['R', 'S', 'D']);
const scheme = Type.Enum(['NHSORGANISATIONS', 'NHSGPNATIONALCODES', 'LOCAL']);

const personName = closed({
  title: Type.Optional(Type.String()),
  family: word,
  given: Type.Array(Type.String()),
});

const patient = closed({
  name: personName,
  previousFamilyName: Type.Optional(Type.String()),
  birthDate: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
  gender: Type.Enum(['male', 'female', 'other', 'unknown']),
  address: closed({ lines: Type.Array(Type.String()), postalCode: Type.Optional(Type.String()) }),
  identifiers: Type.Array(
    closed({
      system: Type.Enum(['nhs-number', 'chi-number', 'gha-number', 'hospital-number', 'ssn-number']),
      value: word,
      isDoubtful: Type.Optional(Type.Literal(true)),
    }),
  ),
  telecom: Type.Array(
    closed({
      system: Type.Enum(['phone', 'email']),
      value: Type.String(),
      use: Type.Optional(Type.Enum(['home', 'work', 'mobile'])),
    }),
  ),
});

const practitioner = closed({
  identifier: closed({ system: Type.Enum(['professional-code', 'local-staff-code']), value: word }),
  name: personName,
});

const organization = closed({
  identifier: closed({
    system: Type.Enum(['ods-organization-code', 'local-org-code', 'performing-org']),
    value: word,
  }),
  name: word,
});

const batch = closed({
  id: word,
  guid,
  orderReference: word,
  provider: closed({ name: word, code: closed({ value: word, scheme }) }),
  category: word,
  status,
  statusAt: isoTime,
  samples: Type.Array(closed({ id: word, description: word, completedAt: Type.Optional(isoTime) }), {
    minItems: 1,
  }),
  tests: Type.Array(
    closed({
      id: word,
      sample: word,
      description: word,
      code: closed({ value: word, scheme, term: word }),
      status,
      statusAt: isoTime,
    }),
    { minItems: 1 },
  ),
});

/** The schema of `Order`, for who opens a seal that should hold one. */
export const orderSchema = closed({
  guid,
  patient,
  requester: practitioner,
  practice: organization,
  performer: organization,
  authoredOn: isoTime,
  batches: Type.Array(batch, { minItems: 1 }),
});

const compiled = compileSchema(orderSchema);

/**
 * Checks that a value is an order. The compiler holds schema and type in step.
 * @throws TypeError naming the faulty paths, never the values.
 */
export function parseOrder(candidate: unknown): Order {
  if (compiled.is(candidate)) return candidate;
  const said = compiled.faultsOf(candidate).map(({ path, message }) => `${path} ${message}`);
  throw new TypeError(`This is no order: ${said.join('; ')}`);
}
