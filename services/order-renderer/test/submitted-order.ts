import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Order, OrderBatch } from '@clinical-launch/contracts/order/order';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfOrder } from '@clinical-launch/crypto/sealing-purposes';

type Submission = {
  readonly sealer: Sealer;
  readonly order: Order;
  readonly launchId: string;
  readonly now: Date;
  /** A value that is sealed instead of the order. */
  readonly sealedValue?: unknown;
  readonly orderVersion?: number;
  readonly clientId?: string;
};

/** The pseudonym of the order's patient. */
export const orderPatient = 'b9d8'.repeat(11).slice(1);

/** Returns the event that the ordering service publishes when an order is submitted. */
export function anOrderSubmitted(submission: Submission) {
  const { sealer, order, launchId, now, sealedValue, orderVersion, clientId = 'pms-demo' } = submission;
  const origin = {
    source: '/ordering',
    correlationId: launchId,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    now,
  };
  const about = {
    orderGuid: order.guid,
    launchId,
    issuer: 'http://localhost/idp/demo/v2.0',
    clientId,
    patient: orderPatient,
    ...withoutUndefined({ orderVersion }),
  };
  return createEvent('order.submitted.v1', origin, {
    ...about,
    batches: order.batches.length,
    tests: order.batches.flatMap(({ tests }) => tests).length,
    sealed: sealer.seal('order.submitted.v1', sealedValue ?? { order }, bindingOfOrder(about)),
  });
}

/** Returns an order of two tests for a patient whose name needs every kind of escaping. */
export function anOrder(
  guid: string,
  familyName = "Ó Súilleabháin-D'Ângelo & <Sons>\r]]> </textarea>",
): Order {
  return {
    guid,
    patient: {
      name: { title: 'Prof. Dr', family: familyName, given: ['Zoë “Zee”', 'محمد', '𠮷野'] },
      birthDate: '1958-02-28',
      gender: 'female',
      address: { lines: ['Tŷ Gwyn'], postalCode: 'LL55 4TF' },
      identifiers: [{ system: 'nhs-number', value: '9434765919' }],
      telecom: [],
    },
    requester: {
      identifier: { system: 'professional-code', value: 'G8134567' },
      name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
    },
    practice: { identifier: { system: 'ods-organization-code', value: 'B82017' }, name: 'Harbour Surgery' },
    performer: { identifier: { system: 'performing-org', value: 'RCB00' }, name: 'North Coast Pathology' },
    authoredOn: '2023-11-06T19:43:05Z',
    batches: [
      aBatch('1', '7a1de1d0-0a0b-4e0c-8f0d-2e6f5a4b3c03'),
      aBatch('2', '7a1de1d0-0a0b-4e0c-8f0d-2e6f5a4b3c04'),
    ],
  };
}

function aBatch(id: string, guid: string): OrderBatch {
  return {
    id,
    guid,
    orderReference: `CL-${id}`,
    provider: { name: 'North Coast Pathology', code: { value: 'RCB00', scheme: 'LOCAL' } },
    category: 'Blood Sciences',
    status: 'R',
    statusAt: '2023-11-06T19:44:10.120Z',
    samples: [{ id: `${id}.1`, description: 'EDTA blood' }],
    tests: [
      {
        id: `${id}.1`,
        sample: `${id}.1`,
        description: 'Full blood count',
        code: { value: 'FBC', scheme: 'LOCAL', term: 'Full blood count' },
        status: 'R',
        statusAt: '2023-11-06T19:44:10.120Z',
      },
    ],
  };
}
