import type { Order } from '@clinical-launch/contracts/order/order';

const batch = (number: number): Order['batches'][number] => ({
  id: `B${number}`,
  guid: `7a1de1d0-0a0b-4e0c-8f0d-2e6f5a4b3c0${number}`,
  orderReference: `CL-1-${number}`,
  provider: { name: 'North Coast Pathology', code: { value: 'RCB00', scheme: 'NHSORGANISATIONS' } },
  category: 'Blood Sciences',
  status: 'S',
  statusAt: '2026-07-06T19:44:10.120Z',
  samples: [{ id: 'S1', description: 'EDTA blood', completedAt: '2026-07-06T19:44:00.000Z' }],
  tests: ['FBC', 'ESR'].map((value, index) => ({
    id: `T${index}`,
    sample: 'S1',
    description: 'A test of the blood',
    code: { value, scheme: 'LOCAL', term: 'A test of the blood' },
    status: 'R',
    statusAt: '2026-07-06T19:44:30.999Z',
  })),
});

/** An order with two batches of two tests, whose document contains nine timestamps. */
export const order: Order = {
  guid: '0b9c4c9e-52cf-4d43-8d8f-1d6f5f6a7b02',
  patient: {
    name: { title: 'Mrs', family: 'Whitfield', given: ['Margaret', 'Anne'] },
    birthDate: '1958-02-28',
    gender: 'female',
    address: { lines: ['4 Harbour Row'], postalCode: 'YO22 4QT' },
    identifiers: [{ system: 'nhs-number', value: '9434765919' }],
    telecom: [],
  },
  requester: {
    identifier: { system: 'professional-code', value: 'G8134567' },
    name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
  },
  practice: { identifier: { system: 'ods-organization-code', value: 'B82017' }, name: 'Harbour Surgery' },
  performer: { identifier: { system: 'performing-org', value: 'RCB00' }, name: 'North Coast Pathology' },
  authoredOn: '2026-07-06T19:43:05Z',
  batches: [batch(1), batch(2)],
};

export const options = {
  messageId: '5f4d8a52-7c0d-4c7e-9a58-0a3f6f1f3b01',
  xmlNamespace: 'urn:clinical-launch:online-order:1',
  timeZone: 'Europe/London',
  system: { name: 'Clinical Launch', version: '1.0.0' },
};
