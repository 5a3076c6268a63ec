import { describe, expect, it } from '@jest/globals';
import {
  type DesktopLaunch,
  isDesktopContext,
  maxLaunchedBytes,
  patientContextJson,
  readDesktopLaunch,
} from '../src/desktop-context.ts';

const patient = {
  title: 'Mr',
  forenames: 'Alun Wyn',
  surname: 'Rhŷs',
  gender: 'Male',
  dob: '28-Feb-1958',
  'patient-identifiers': [
    { identifierType: 'GUID', identifierValue: 'D3B07384-D9A0-4C9B-8F2E-000000000001' },
    { identifierType: 'EHR Partner ID', identifierValue: '42' },
    { identifierType: 'NHS Number', identifierValue: '943 476 5919' },
    { identifierType: 'Hospital', identifierValue: 'H/1' },
  ],
  'address-details': [{ addressLine1: '' }, { addressLine1: '1 Stryd Fawr', postcode: 'CF10 1AA' }],
  'contact-details': [],
};
const launch: DesktopLaunch = {
  client_id: 'partner',
  user: {
    userERN: 'ern:emis:user:4711',
    email: 'a@b.example',
    title: '',
    firstName: 'Siân',
    familyName: 'Owen',
  },
  organisation: { orgERN: 'ern:org:1', orgName: 'Meddygfa', cdb: '10001', ods: 'W92001' },
  authorizations: [
    'agmt-agmt.read',
    'clinical-cr.read',
    'clinical-cr.write',
    'doc-app.addcode',
    'doc-app.create',
    'term-prep.read',
  ],
  patient,
};

/** Returns a copy of the launch with another value at a path. The value `undefined` removes the member. */
function changed(path: string, value: unknown): unknown {
  const copy: unknown = structuredClone(launch);
  const steps = path.split('/');
  const last = steps.pop() ?? '';
  let owner = copy as Record<string, unknown>;
  for (const step of steps) owner = owner[step] as Record<string, unknown>;
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  return copy;
}

/** Returns the path and message of every error in a request body. */
const faultsOf = (body: unknown) => {
  const read = readDesktopLaunch(body);
  return 'faults' in read ? read.faults.map(({ path, message }) => ({ path, message })) : [];
};

const members = [
  'client_id',
  'user',
  'organisation',
  'authorizations',
  'patient',
  ...['userERN', 'email', 'title', 'firstName', 'familyName'].map((name) => `user/${name}`),
  ...['orgERN', 'orgName', 'cdb', 'ods'].map((name) => `organisation/${name}`),
  ...Object.keys(patient).map((name) => `patient/${name}`),
  'patient/patient-identifiers/0/identifierType',
  'patient/patient-identifiers/0/identifierValue',
  'patient/address-details/0/addressLine1',
];

describe('the body of a desktop launch request', () => {
  it('is accepted if it is valid, with or without `call`', () => {
    expect(readDesktopLaunch(launch)).toEqual({ launch });
    expect(readDesktopLaunch({ ...launch, call: true })).toEqual({ launch: { ...launch, call: true } });
  });

  it.each(members)('requires %s', (path) => {
    const faults = faultsOf(changed(path, undefined));
    expect(faults).toHaveLength(1);
    expect(faults[0]?.message).toBe('is required');
  });

  it.each(members)('is refused if %s is a number', (path) => {
    expect(faultsOf(changed(path, 1))).toContainEqual({
      path: expect.any(String),
      message: expect.stringContaining('must be of type'),
    });
  });

  it.each([
    ['user/userERN', 'urn:user:1'],
    ['user/userERN', 'ern:4711'],
    ['user/userERN', 'ern:user: 1'],
    ['user/email', 'nobody'],
    ['user/familyName', ''],
    ['user/firstName', 'a\u0000b'],
    ['user/firstName', '\ud800'],
    ['organisation/orgERN', 'org'],
    ...['orgName', 'cdb', 'ods'].map((name): [string, string] => [`organisation/${name}`, '']),
    ['authorizations', ['read']],
    ['authorizations', ['clinical.read']],
    ['authorizations', ['clinical-cr.read', 'clinical-cr.read']],
    ['authorizations', 'clinical-cr.read'],
    ['patient/surname', ''],
    ['patient/surname', 'Rhŷs\tOwen'],
    ['patient/forenames', 'Alun\nWyn'],
    ['user/familyName', 'Owen\r'],
    ['patient/dob', '03-Jan-9999'],
    ['patient/dob', '1958-02-28'],
    ['patient/dob', '28-feb-1958'],
    ['patient/dob', '8-Feb-1957'],
    ['patient/dob', '29-Feb-1958'],
    ['patient/dob', '31-Apr-1958'],
    ['patient/dob', '00-Jan-1958'],
    ['patient/dob', '01-Xyz-1958'],
    ['patient/patient-identifiers', []],
    ['patient/patient-identifiers', [{ identifierType: 'GUID', identifierValue: '1' }]],
    ['patient/patient-identifiers', [{ identifierType: 'EHR Partner ID', identifierValue: 'x' }]],
    ['patient/patient-identifiers', [{ identifierType: 'NHS Number', identifierValue: '123' }]],
    ['patient/patient-identifiers', [{ identifierType: 'NHS Number', identifierValue: 9434765919 }]],
    ['patient/patient-identifiers', [{ identifierType: 'EHR Partner ID', identifierValue: -1 }]],
    ['patient/patient-identifiers', [{ identifierType: 'EHR Partner ID', identifierValue: 90210.5 }]],
    ['patient/patient-identifiers', [{ identifierType: 'EHR Partner ID', identifierValue: 2 ** 53 }]],
    ['patient/patient-identifiers', [{ identifierType: 'EHR Partner ID', identifierValue: true }]],
    ['patient/patient-identifiers', [{ identifierType: 'X', identifierValue: '1', more: 1 }]],
    ['patient/contact-details', ['text']],
    ['patient/extra', 'x'],
    ['extra', 'x'],
    ['call', 'https://attacker.example/'],
  ])('causes one error, which does not repeat the value, if %s is %j', (path, value) => {
    const faults = faultsOf(changed(path, value));
    expect(faults).toHaveLength(1);
    // The text of the message may contain a short value by chance, so only longer values are checked.
    const sent = JSON.stringify(value).slice(1, -1);
    expect(sent.length > 3 && JSON.stringify(faults).includes(sent)).toBe(false);
  });

  const mayBeEmpty = ['user/title', 'user/firstName', 'patient/title', 'patient/forenames'];
  it.each(mayBeEmpty)('accepts an empty %s', (path) => expect(faultsOf(changed(path, ''))).toEqual([]));

  it.each([
    ['user/title', 35],
    ['user/firstName', 100],
    ['user/familyName', 100],
    ['organisation/orgName', 200],
    ['organisation/cdb', 50],
    ['organisation/ods', 50],
    ['patient/title', 35],
    ['patient/forenames', 200],
    ['patient/surname', 100],
    ['patient/gender', 30],
    ['patient/patient-identifiers/3/identifierType', 50],
    ['patient/patient-identifiers/3/identifierValue', 100],
    ['patient/address-details/1/postcode', 300],
    ['client_id', 200],
  ])('accepts a %s of at most %i characters', (path, length) => {
    expect(faultsOf(changed(path, 'a'.repeat(length)))).toEqual([]);
    expect(faultsOf(changed(path, 'a'.repeat(length + 1)))).toHaveLength(1);
  });

  it.each([
    ['authorizations', 200, (at: number) => `a-b.c${at}`],
    ['patient/patient-identifiers', 20, () => ({ identifierType: 'Hospital', identifierValue: '1' })],
    ['patient/address-details', 10, () => ({ addressLine1: '' })],
    ['patient/contact-details', 20, () => ({ phone: '1' })],
  ])('accepts a %s list of at most %i entries', (path, length, entry) => {
    const [guid, partner] = patient['patient-identifiers'];
    const first = path.endsWith('identifiers') ? [guid, partner] : [];
    const list = (size: number) => [
      ...first,
      ...Array.from({ length: size - first.length }, (_, at) => entry(at)),
    ];
    expect(faultsOf(changed(path, list(length)))).toEqual([]);
    expect(faultsOf(changed(path, list(length + 1)))).toHaveLength(1);
  });

  it.each(['29-Feb-2000', '31-Dec-1899', '01-Jan-2026'])('accepts the date of birth %s', (dob) => {
    expect(faultsOf(changed('patient/dob', dob))).toEqual([]);
  });

  it('is refused if the date of birth is still in the future in every time zone, or more than 140 years ago', () => {
    const now = Date.parse('2026-03-02T12:00:00Z');
    const faultsOn = (dob: string) => readDesktopLaunch(changed('patient/dob', dob), now);
    expect(faultsOn('03-Mar-2026')).toHaveProperty('launch');
    expect(faultsOn('04-Mar-2026')).toEqual({
      faults: [{ path: 'patient.dob', message: 'must not be in the future', code: 'value' }],
    });
    expect(faultsOn('01-Mar-1886')).toMatchObject({
      faults: [{ path: 'patient.dob', message: 'must not be more than 140 years ago' }],
    });
  });

  it('causes errors whose paths contain * in place of member names that the host chose', () => {
    const details = [{ 'Margaret Whitfield 9434765919': 7 }, { '9434765919': 7 }, { ['k'.repeat(500)]: 7 }];
    expect(faultsOf(changed('patient/contact-details', details))).toEqual(
      details.map((_, index) => ({
        path: `patient.contact-details[${index}].*`,
        message: 'must be of type string',
      })),
    );
  });

  it('causes an error for every missing member at once', () => {
    expect(faultsOf({}).map(({ path }) => path)).toEqual([
      'client_id',
      'user',
      'organisation',
      'authorizations',
      'patient',
    ]);
  });

  it.each([undefined, null, 'text', 1, []])('is refused if it is %j', (body) => {
    expect(faultsOf(body)).not.toEqual([]);
  });

  it('is refused if its members would not fit in an access token', () => {
    const room = maxLaunchedBytes - Buffer.byteLength(JSON.stringify(Object.values(launch).slice(1)));
    const address = Array.from({ length: 10 }, () => ({ addressLine1: 'a'.repeat(280) }));
    const full =
      Buffer.byteLength(JSON.stringify(address)) -
      Buffer.byteLength(JSON.stringify(patient['address-details']));
    expect(full).toBeLessThan(room);
    expect(faultsOf(changed('patient/address-details', address))).toEqual([]);
    const wide = address.map(() => ({ addressLine1: 'é'.repeat(280) }));
    expect(faultsOf(changed('patient/address-details', wide))).toEqual([
      {
        path: 'patient',
        message: expect.stringContaining(`at most ${maxLaunchedBytes} bytes`),
      },
    ]);
  });
});

describe('the patient context of the ID token', () => {
  it('is a JSON array whose one element contains the patient, a type and a version', () => {
    expect(JSON.parse(patientContextJson(patient))).toEqual([
      { type: 'patient-context', version: '1.0.0', ...patient },
    ]);
  });
});

describe('isDesktopContext', () => {
  const { client_id: clientId, ...launched } = launch;
  const context = {
    launchId: 'd3b07384-d9a0-4c9b-8f2e-000000000001',
    realm: 'demo/desktop',
    clientId,
    authTime: 1,
    ...launched,
  };

  it('accepts valid desktop launch contexts, even with unknown members, and refuses other values', () => {
    expect(isDesktopContext(context)).toBe(true);
    const newer = { ...context, newer: 1, patient: { ...context.patient, newer: 'member' } };
    expect(isDesktopContext(newer)).toBe(true);
    expect(isDesktopContext({ ...context, patient: undefined })).toBe(false);
    expect(isDesktopContext({ ...context, launchId: 'x' })).toBe(false);
    expect(isDesktopContext(undefined)).toBe(false);
  });
});
