import type { LaunchOrganization, LaunchPatient, LaunchPractitioner } from '../launch-context.ts';

/** Status codes of the order document: R requested, S sample taken, D deleted. */
export type OrderStatus = 'R' | 'S' | 'D';

/** The code sets that the order document can name. */
export type CodeScheme = 'NHSORGANISATIONS' | 'NHSGPNATIONALCODES' | 'LOCAL';

export type Code = { readonly value: string; readonly scheme: CodeScheme };

export type OrderSample = {
  /** Unique within the order; what `OrderedTest.sample` names. */
  readonly id: string;
  readonly description: string;
  /** ISO 8601 instant; absent until the sample is taken. */
  readonly completedAt?: string;
};

export type OrderedTest = {
  readonly id: string;
  readonly sample: string;
  readonly description: string;
  readonly code: Code & { readonly term: string };
  readonly status: OrderStatus;
  /** ISO 8601 instant */
  readonly statusAt: string;
};

/** The tests of one order for one laboratory location. */
export type OrderBatch = {
  readonly id: string;
  readonly guid: string;
  readonly orderReference: string;
  readonly provider: { readonly name: string; readonly code: Code };
  readonly category: string;
  readonly status: OrderStatus;
  /** ISO 8601 instant */
  readonly statusAt: string;
  readonly samples: readonly OrderSample[];
  readonly tests: readonly OrderedTest[];
};

/** One request as the laboratory and the PMS see it: the source of the order document. */
export type Order = {
  readonly guid: string;
  readonly patient: LaunchPatient;
  readonly requester: LaunchPractitioner;
  readonly practice: LaunchOrganization;
  readonly performer: LaunchOrganization;
  /** FHIR dateTime with offset */
  readonly authoredOn: string;
  readonly batches: readonly OrderBatch[];
};
