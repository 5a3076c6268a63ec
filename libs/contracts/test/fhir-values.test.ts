import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest, containedAt } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { createServiceRequestReader } from '../src/fhir/service-request-reader.ts';
import { actions } from '../src/launch-context.ts';
import { defaultNamespaces } from '../src/namespaces.ts';
import { faultsOf, read, wholeFaultsOf } from './fhir-reading.ts';

/** A payload whose patient has one identifier, because only certain pairs of identifiers are allowed. */
const valid = aServiceRequest({
  patient: { identifier: [{ system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9434765919' }] },
});
const fhir = 'https://fhir.clinical-launch.example';
const nhs = 'https://fhir.nhs.uk';
const hl7uk = 'https://fhir.hl7.org.uk';

const patientSystems = [
  `${nhs}/Id/nhs-number`,
  ...['chi-number', 'gha-number', 'hospital-number', 'ssn-number'].map((name) => `${fhir}/Id/${name}`),
];

/**
 * Path of each element that accepts a fixed list of values, all allowed values, and some values that FHIR
 * allows but OLTR does not.
 */
const closed: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['resourceType', ['ServiceRequest'], ['Patient', 'servicerequest']],
  ['extension[0].valueString', actions, ['ordertest', 'OrderTest ', 'x'.repeat(25), 'x'.repeat(26)]],
  ['contained[0].name[0].use', ['usual'], ['official', 'temp', 'nickname', 'anonymous', 'old', 'maiden']],
  ['contained[0].identifier[0].system', [`${fhir}/Id/username`], [`${fhir}/Id/local-staff-code`]],
  ['contained[1].gender', ['male', 'female', 'other', 'unknown'], ['Male', 'f']],
  ['contained[1].address[0].use', ['home'], ['work', 'temp', 'old', 'billing']],
  ['contained[1].address[0].type', ['physical'], ['postal', 'both']],
  ['contained[1].identifier[0].system', patientSystems, [`${fhir}/Id/nhs-number`, `${nhs}/Id/chi-number`]],
  ['contained[1].telecom[0].system', ['phone', 'email'], ['fax', 'pager', 'url', 'sms', 'other']],
  ['contained[1].telecom[0].use', ['home', 'work', 'mobile'], ['temp', 'old']],
];

describe.each(closed)('%s', (path, allowed, refused) => {
  it.each(allowed)('may be %s', (value) => {
    expect(faultsOf(replaceAt(valid, path, value))).toEqual([]);
  });

  it.each<Json>([...refused, '', null, 7, [allowed[0] ?? '']])('must not be %j', (value) => {
    const message = `must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`;
    expect(faultsOf(replaceAt(valid, path, value))).toEqual([{ path, message }]);
  });
});

describe('Patient.name.use', () => {
  const path = 'contained[1].name[0].use';

  it.each(['official', 'temp', 'nickname', 'anonymous', 'maiden', 'x'])('must not be %s', (use) => {
    expect(faultsOf(replaceAt(valid, path, use))).toEqual([{ path, message: 'must be one of usual, old' }]);
  });
});

describe('an identifier whose system is almost a supported one', () => {
  const near = [
    ['contained[1].identifier[0].system', `${nhs}/Id/nhs-number`, `${nhs}/id/NHS-number`],
    ['contained[1].identifier[0].system', `${nhs}/Id/nhs-number`, 'http://fhir.nhs.uk/Id/nhs-number'],
    ['contained[1].identifier[0].system', `${nhs}/Id/nhs-number`, 'https://fhir.nhs.net/Id/nhs-number'],
    ['contained[0].identifier[0].system', `${fhir}/Id/username`, `${fhir}/id/username`],
    [
      'contained[4].identifier[0].system',
      `${nhs}/Id/ods-organization-code`,
      `${nhs}/Id/ODS-organization-code `,
    ],
    ['identifier[0].system', `${fhir}/Id/originating-system-id`, `${fhir}/ID/originating-system-id`],
  ] as const;

  it.each(near)('is refused with the system that was meant: %s', (path, meant, sent) => {
    const [fault, ...others] = faultsOf(replaceAt(valid, path, sent));
    expect(fault?.message).toMatch(`. What was sent is almost ${meant}: correct its case, protocol or host`);
    expect(others).toEqual([]);
  });
});

describe('Practitioner.name.use', () => {
  it('is required with the one value that is read', () => {
    expect(faultsOf(replaceAt(valid, 'contained[3].name[0].use', undefined))).toEqual([
      { path: 'contained[3].name[0].use', message: 'is required: usual' },
    ]);
  });

  const usual = { use: 'usual', family: 'Bairstow' };
  const uses = ['usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'];

  it.each(uses)('may be %s if another name has the use `usual`', (use) => {
    expect(faultsOf(aServiceRequest({ clinician: { name: [{ use, family: 'Other' }, usual] } }))).toEqual([]);
  });

  it('must be a value of NameUse in FHIR', () => {
    const name = [usual, { use: 'stage', family: 'Other' }];
    expect(faultsOf(aServiceRequest({ clinician: { name } }))).toEqual([
      { path: 'contained[3].name[1].use', message: `must be one of ${uses.join(', ')}` },
    ]);
  });
});

const practiceSystems = [`${nhs}/Id/ods-organization-code`, `${fhir}/Id/local-org-code`];
const performing = `${fhir}/Id/performing-org`;

describe('the identifier of a practice', () => {
  const fault = {
    path: 'contained[4].identifier',
    message: `must have an entry whose system is one of ${practiceSystems.join(', ')}`,
  };

  it('must not consist only of the code of a performing organisation', () => {
    const identifier = [{ system: performing, value: 'RCB00' }];
    expect(faultsOf(aServiceRequest({ practice: { identifier } }))).toEqual([fault]);
  });

  it('is its ODS code if its identifiers also include the code of a performing organisation', () => {
    const identifier = [
      { system: performing, value: 'RCB00' },
      { system: `${nhs}/Id/ods-organization-code`, value: 'B82017' },
    ];
    expect(read(aServiceRequest({ practice: { identifier } }))).toMatchObject({
      request: { practice: { identifier: { system: 'ods-organization-code', value: 'B82017' } } },
    });
  });
});

describe('a list of identifiers', () => {
  /** Path of each list, and the supported systems. At least one entry must have a supported system. */
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['identifier', [`${fhir}/Id/originating-system-id`]],
    ['contained[3].identifier', [`${hl7uk}/Id/professional-code`, `${fhir}/Id/local-staff-code`]],
    ['contained[4].identifier', practiceSystems],
    ['contained[5].identifier', [...practiceSystems, performing]],
  ];

  it.each(lists)(
    'may contain entries of any system, and its first entry with a supported system is processed: %s',
    (path, systems) => {
      for (const system of systems) {
        const others = { system: 'urn:example:other', value: 'ignored' };
        const payload = replaceAt(valid, path, [
          others,
          { system, value: 'taken' },
          { system, value: 'ignored' },
        ]);
        const reading = JSON.stringify(read(payload));
        expect(faultsOf(payload)).toEqual([]);
        expect(reading).toContain('"taken"');
        expect(reading).not.toContain('ignored');
      }
    },
  );

  /**
   * Returns the systems that the error message lists. If no identifier of an Organization has a supported
   * system, the reader cannot know its role, so the message lists the systems of both roles.
   */
  const wanted = (path: string, accepted: readonly string[]) => {
    const systems = path.startsWith('contained[4]') ? [...practiceSystems, performing] : accepted;
    return `${systems.length > 1 ? 'one of ' : ''}${systems.join(', ')}`;
  };

  it.each(lists)('must contain an entry whose system is supported: %s', (path, accepted) => {
    expect(faultsOf(replaceAt(valid, path, [{ system: 'urn:example:other', value: 'x' }]))).toEqual([
      { path, message: `must have an entry whose system is ${wanted(path, accepted)}` },
    ]);
  });

  it.each(lists)(
    'must not contain an entry without a system, and the error lists the supported systems: %s',
    (path, accepted) => {
      expect(faultsOf(replaceAt(valid, path, [{ value: 'x' }]))).toEqual([
        { path: `${path}[0].system`, message: `is required: ${wanted(path, accepted)}` },
      ]);
    },
  );
});

describe('a member that changes the meaning of what is read', () => {
  const { author, patient, requester, clinician, practice, laboratory } = containedAt;
  const resources = ['', ...Object.values(containedAt).map((path) => `${path}.`)];
  const elements = [
    'extension[0]',
    'extension[1].valueReference',
    'identifier[0]',
    'subject',
    'performer[0]',
    `${author}.name[0]`,
    `${author}.identifier[0]`,
    `${patient}.name[1]`,
    `${patient}.address[0]`,
    `${patient}.identifier[0]`,
    `${patient}.telecom[0]`,
    `${requester}.practitioner`,
    `${clinician}.name[0]`,
    `${clinician}.identifier[0]`,
    `${practice}.identifier[0]`,
  ].map((path) => `${path}.`);
  const at = (paths: string[], member: string, value: Json) =>
    paths.map((path): [string, Json] => [`${path}${member}`, value]);
  const refused: [string, Json][] = [
    ['doNotPerform', true],
    ['doNotPerform', 'true'],
    ['status', 'revoked'],
    ['status', 'entered-in-error'],
    ['status', 'completed'],
    ['status', 'on-hold'],
    ['status', 'unknown'],
    ...at(resources, 'implicitRules', 'urn:example:rules'),
    ...at([...resources, ...elements], 'modifierExtension', [{ url: 'urn:x' }]),
    ['modifierExtension', { url: 'urn:x', valueBoolean: true }],
    [`${patient}.link`, [{ type: 'seealso' }, { type: 'replaced-by', other: { reference: '#x' } }]],
    [`${patient}.identifier[0].use`, 'old'],
    [`${author}.identifier[0].use`, 'old'],
  ];

  it.each(refused)('is refused as not-supported: %s %j', (path, value) => {
    expect(wholeFaultsOf(replaceAt(valid, path, value))).toMatchObject([{ path, code: 'not-supported' }]);
  });

  it.each<[string, Json]>([
    ['doNotPerform', false],
    ['doNotPerform', null],
    ['status', 'active'],
    ['status', 'draft'],
    ['intent', 'proposal'],
    ['implicitRules', null],
    ...at([...resources, ...elements], 'modifierExtension', []),
    ['modifierExtension', null],
    [`${patient}.active`, false],
    [`${patient}.deceasedBoolean`, true],
    [`${patient}.link`, [{ type: 'replaces' }]],
    [`${patient}.identifier[0].use`, 'official'],
  ])('is ignored if its value does not: %s %j', (path, value) => {
    expect(read(replaceAt(valid, path, value))).toEqual(read(valid));
  });

  it.each(actions.filter((action) => action !== 'OrderTest'))(
    'is ignored if the status of a request is completed, on-hold or unknown in %s',
    (action) => {
      for (const status of ['completed', 'on-hold', 'unknown'])
        expect(faultsOf(aServiceRequest({ action, request: { status } }))).toEqual([]);
      expect(faultsOf(aServiceRequest({ action, request: { status: 'revoked' } }))).toHaveLength(1);
    },
  );

  it.each([
    ['identifier', 'originating-system-id'],
    [`${clinician}.identifier`, 'local-staff-code'],
    [`${practice}.identifier`, 'local-org-code'],
    [`${laboratory}.identifier`, 'local-org-code'],
  ])('is passed over if it is an old identifier, but not if no other is left: %s', (path, name) => {
    const system = `${fhir}/Id/${name}`;
    const old = { system, value: 'former', use: 'old' };
    const current = { system, value: 'current', use: 'official' };
    expect(read(replaceAt(valid, path, [old, current]))).toEqual(read(replaceAt(valid, path, [current])));
    const [fault] = wholeFaultsOf(replaceAt(valid, path, [old]));
    expect(fault).toMatchObject({ path, code: 'not-supported' });
    expect(fault?.message).toMatch(/, and whose use is not old$/);
  });
});

describe('a code, an identifier or a login name', () => {
  const lists = ['identifier', ...[0, 1, 3, 4, 5].map((at) => `contained[${at}].identifier`)];
  const codes = lists.map((list) => `${list}[0].value`);

  it.each(codes)('(%s) is read without blanks and invisible characters at its ends', (path) => {
    const clean = replaceAt(valid, path, '9434765919 x');
    for (const blank of [' ', '  ', '\u00a0', '\u200b', '\ufeff', '\u202c'])
      for (const padded of [`${blank}9434765919 x`, `9434765919 x${blank}`])
        expect(read(replaceAt(valid, path, padded))).toEqual(read(clean));
    expect(JSON.stringify(read(clean))).toContain('"9434765919 x"');
  });
});

describe('dates and times', () => {
  it.each(['2023-11-06T19:43:05Z', '2023-11-06T19:43:05.1234567+00:00'])(
    'authoredOn may be %s',
    (authoredOn) => {
      expect(read(aServiceRequest({ authoredOn }))).toMatchObject({ request: { authoredOn } });
    },
  );

  it.each([
    '2023-02-29T19:43:05Z',
    '2023-11-06T19:43:05',
    '2023-11-06T19:43:05+0000',
    '2023-11-06T19:43Z',
    '',
  ])('authoredOn must not be %j', (authoredOn) => {
    expect(faultsOf(aServiceRequest({ authoredOn }))).toEqual([
      {
        path: 'authoredOn',
        message:
          'must be a date and time that exists, with seconds and an offset such as Z or +01:00, written like 2023-11-06T19:43:05Z',
      },
    ]);
  });

  it.each(['2023-02-29', '1958', '1958-02', '28-02-1958', ''])('birthDate must not be %j', (birthDate) => {
    expect(faultsOf(aServiceRequest({ patient: { birthDate } }))).toEqual([
      { path: 'contained[1].birthDate', message: 'must be a date that exists, written YYYY-MM-DD' },
    ]);
  });

  it.each([
    '9999-12-31T23:59:59-14:00',
    '9999-12-31T12:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '0001-01-01T13:59:59Z',
  ])('authoredOn must not be %s, whose year does not have four digits in some time zone', (authoredOn) => {
    expect(faultsOf(aServiceRequest({ authoredOn }))).toEqual([
      { path: 'authoredOn', message: expect.stringContaining('must be a date and time that exists') },
    ]);
  });

  it.each(['9999-12-31T09:59:59Z', '9999-12-31T23:59:59+14:00', '0001-01-01T14:00:00Z'])(
    'authoredOn may be %s',
    (authoredOn) => expect(faultsOf(aServiceRequest({ authoredOn }))).toEqual([]),
  );

  it('birthDate must not be a date that is still in the future in every time zone', () => {
    const now = Date.parse('2026-03-02T12:00:00Z');
    const readThen = createServiceRequestReader(defaultNamespaces, { now: () => now });
    const born = (birthDate: string) => readThen(aServiceRequest({ patient: { birthDate } }));
    expect(born('2026-03-02')).toHaveProperty('request');
    // In some time zones, 3 March has already begun.
    expect(born('2026-03-03')).toHaveProperty('request');
    expect(born('2026-03-04')).toMatchObject({
      faults: [{ path: 'contained[1].birthDate', message: 'must not be in the future' }],
    });
  });

  it('birthDate must not be more than 140 years ago', () => {
    const now = Date.parse('2026-03-02T12:00:00Z');
    const readThen = createServiceRequestReader(defaultNamespaces, { now: () => now });
    const born = (birthDate: string) => readThen(aServiceRequest({ patient: { birthDate } }));
    expect(born('1886-03-02')).toHaveProperty('request');
    for (const birthDate of ['1886-03-01', '0001-01-01', '1582-10-15'])
      expect(born(birthDate)).toMatchObject({
        faults: [{ path: 'contained[1].birthDate', message: 'must not be more than 140 years ago' }],
      });
  });
});
