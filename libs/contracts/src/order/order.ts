import { organizationSchema, patientSchema, practitionerSchema } from '../launch-context.ts';
import { closedObject, createParser, guidPattern, type StaticOf, withUnknownMembers } from '../schema.ts';
import { Type } from '../type.ts';

const guid = Type.String({ pattern: guidPattern });
const word = Type.String({ minLength: 1 });
const isoTime = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$',
});

/** The status codes of the order document: R for requested, S for sample taken, D for deleted. */
const statusSchema = Type.Enum(['R', 'S', 'D']);

const schemeSchema = Type.Enum(['NHSORGANISATIONS', 'NHSGPNATIONALCODES', 'LOCAL']);

const codeSchema = closedObject({ value: word, scheme: schemeSchema });

const sampleSchema = closedObject({
  /** An id that is unique within the order. `OrderedTest.sample` refers to the sample by this id. */
  id: word,
  description: word,
  /** The ISO 8601 time at which the sample was taken. Absent until then. */
  completedAt: Type.Optional(isoTime),
});

const testSchema = closedObject({
  id: word,
  sample: word,
  description: word,
  code: closedObject({ ...codeSchema.properties, term: word }),
  status: statusSchema,
  /** The ISO 8601 time of the last change of `status`. */
  statusAt: isoTime,
});

const batchSchema = closedObject({
  id: word,
  guid,
  orderReference: word,
  provider: closedObject({ name: word, code: codeSchema }),
  category: word,
  status: statusSchema,
  /** The ISO 8601 time of the last change of `status`. */
  statusAt: isoTime,
  samples: Type.Array(sampleSchema, { minItems: 1 }),
  tests: Type.Array(testSchema, { minItems: 1 }),
});

const orderSchema = closedObject({
  guid,
  patient: patientSchema,
  requester: practitionerSchema,
  practice: organizationSchema,
  performer: organizationSchema,
  /** A FHIR dateTime with offset. */
  authoredOn: isoTime,
  batches: Type.Array(batchSchema, { minItems: 1 }),
});

export type OrderStatus = StaticOf<typeof statusSchema>;
export type CodeScheme = StaticOf<typeof schemeSchema>;
export type Code = StaticOf<typeof codeSchema>;
export type OrderSample = StaticOf<typeof sampleSchema>;
export type OrderedTest = StaticOf<typeof testSchema>;
/** The tests of one order for one laboratory location. */
export type OrderBatch = StaticOf<typeof batchSchema>;
/** A request as the laboratory and the PMS receive it. The order document contains these values. */
export type Order = StaticOf<typeof orderSchema>;

/**
 * Returns a value as an order. Accepts unknown members, which a newer release may have added.
 * @throws TypeError that lists the invalid paths, without values
 */
export const parseOrder = createParser(withUnknownMembers(orderSchema), 'order');
