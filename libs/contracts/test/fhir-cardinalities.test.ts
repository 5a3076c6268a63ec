import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { faultsOf, read } from './fhir-reading.ts';

const valid = aServiceRequest();
const fhir = 'https://fhir.clinical-launch.example';

const usual = { use: 'usual', family: 'Whitfield' };
const old = { use: 'old', family: 'Pemberton' };
const phone = { system: 'phone', value: '01947 555 0142' };

const atLeast = (count: number) => `must have at least ${count} ${count === 1 ? 'entry' : 'entries'}`;
const atMost = (count: number) => `must have at most ${count} ${count === 1 ? 'entry' : 'entries'}`;

describe('a required element', () => {
  const required = [
    'resourceType',
    'extension',
    'extension[0].valueString',
    'extension[1].valueReference',
    'identifier',
    'identifier[0].system',
    'identifier[0].value',
    'subject',
    'authoredOn',
    'requester',
    'performer',
    'contained',
    ...['name', 'identifier', 'name[0].use', 'name[0].family', 'name[0].given'].map(
      (path) => `contained[0].${path}`,
    ),
    ...['identifier[0].system', 'identifier[0].value'].map((path) => `contained[0].${path}`),
    ...['name', 'birthDate', 'gender', 'address', 'identifier'].map((path) => `contained[1].${path}`),
    ...['name[0].use', 'name[0].family', 'address[0].use', 'address[0].type'].map(
      (path) => `contained[1].${path}`,
    ),
    ...['identifier[0].system', 'identifier[0].value'].map((path) => `contained[1].${path}`),
    ...['telecom[0].system', 'telecom[0].value'].map((path) => `contained[1].${path}`),
    ...['practitioner', 'organization'].map((path) => `contained[2].${path}`),
    ...['identifier', 'name', 'identifier[0].system', 'identifier[0].value'].map(
      (path) => `contained[3].${path}`,
    ),
    ...['name[0].use', 'name[0].family'].map((path) => `contained[3].${path}`),
    ...['identifier', 'name', 'identifier[0].system', 'identifier[0].value'].map(
      (path) => `contained[4].${path}`,
    ),
  ];

  it.each(required)('causes exactly one error if it is absent: %s', (path) => {
    const message = expect.stringMatching(/^is required(: \S|$)/);
    expect(faultsOf(replaceAt(valid, path, undefined))).toEqual([{ path, message }]);
  });

  it.each(required)('causes exactly one error if it is null: %s', (path) => {
    const [fault, ...others] = faultsOf(replaceAt(valid, path, null));
    expect(fault?.path).toBe(path);
    expect(others).toEqual([]);
  });
});

describe('an optional element', () => {
  it.each([
    'contained[0].name[0].prefix',
    'contained[1].name[0].prefix',
    'contained[1].name[0].given',
    'contained[1].address[0].line',
    'contained[1].address[0].postalCode',
    'contained[1].telecom',
    'contained[1].telecom[0].use',
    'contained[3].name[0].prefix',
    'contained[3].name[0].given',
  ])('is accepted if it is absent, but refused if it is null: %s', (path) => {
    expect(faultsOf(replaceAt(valid, path, undefined))).toEqual([]);
    expect(faultsOf(replaceAt(valid, path, null))).toHaveLength(1);
  });
});

describe('the number of list entries', () => {
  const person = { ...usual, given: ['Adaeze'] };
  const username = { system: `${fhir}/Id/username`, value: 'a.okonkwo' };
  const address = { use: 'home', type: 'physical' };
  const laboratory = { reference: '#laboratory' };
  /** Path of a list, an example entry, and the minimum and maximum number of entries. */
  const lists: readonly (readonly [string, Json, number, number])[] = [
    ['performer', laboratory, 1, 1],
    ['contained[0].name', person, 1, 1],
    ['contained[0].identifier', username, 1, 1],
    ['contained[1].address', address, 1, 1],
    ['contained[1].telecom', phone, 0, 4],
    ['contained[1].address[0].line', 'Line', 0, 5],
    ['contained[1].name[0].prefix', 'Dr', 0, 35],
    ['contained[3].name[0].prefix', 'Dr', 0, 35],
  ];

  it.each(lists)('of %s is limited', (path, entry, least, most) => {
    for (let count = least; count <= most; count += 1) {
      expect(
        faultsOf(
          replaceAt(
            valid,
            path,
            Array.from({ length: count }, () => entry),
          ),
        ),
      ).toEqual([]);
    }
    const tooMany = Array.from({ length: most + 1 }, () => entry);
    expect(faultsOf(replaceAt(valid, path, tooMany))).toEqual([{ path, message: atMost(most) }]);
  });

  it('of contained[1].identifier must be one or two', () => {
    const path = 'contained[1].identifier';
    const hospital = { system: `${fhir}/Id/hospital-number`, value: 'WH-42' };
    const national = { system: `${fhir}/Id/gha-number`, value: 'GHA123456' };
    expect(faultsOf(replaceAt(valid, path, [national]))).toEqual([]);
    expect(faultsOf(replaceAt(valid, path, [hospital]))).toEqual([]);
    expect(faultsOf(replaceAt(valid, path, [national, hospital]))).toEqual([]);
    expect(faultsOf(replaceAt(valid, path, [national, hospital, national]))).toEqual([
      { path, message: atMost(2) },
    ]);
    expect(faultsOf(replaceAt(valid, path, []))).toEqual([{ path, message: atLeast(1) }]);
  });

  it.each([
    ...lists.filter(([, , least]) => least > 0).map(([path]) => path),
    'identifier',
    'contained[0].name[0].given',
    'contained[1].name',
    'contained[3].identifier',
    'contained[3].name',
    'contained[4].identifier',
  ])('of %s must not be zero', (path) => {
    expect(faultsOf(replaceAt(valid, path, []))).toEqual([{ path, message: atLeast(1) }]);
  });

  it.each([
    'performer',
    'identifier',
    'contained',
    'contained[0].name',
    'contained[1].address',
    'contained[1].telecom',
  ])('of %s causes no second error if the value is not a list', (path) => {
    expect(faultsOf(replaceAt(valid, path, { use: 'usual' }))).toEqual([
      { path, message: 'must be of type array' },
    ]);
  });
});

describe('Patient.name', () => {
  const path = 'contained[1].name';
  const oneUsual = 'must have exactly one entry whose use is usual';

  it.each([[[usual]], [[usual, old]], [[old, usual]]])('may be %j', (name) => {
    expect(faultsOf(aServiceRequest({ patient: { name } }))).toEqual([]);
  });

  it.each([
    [[old], oneUsual],
    [[usual, usual], oneUsual],
    [[old, old], oneUsual],
    [[usual, old, old], atMost(2)],
    [[usual, usual, old], atMost(2)],
  ])('must not be %j', (name, message) => {
    expect(faultsOf(aServiceRequest({ patient: { name } }))).toEqual([{ path, message }]);
  });
});

describe('Practitioner.name', () => {
  it('must contain an entry whose use is `usual`, and only the first such entry is processed', () => {
    const name = [old, { use: 'usual', family: 'First' }, { use: 'usual', family: 'Second' }];
    expect(faultsOf(aServiceRequest({ clinician: { name: [old] } }))).toEqual([
      { path: 'contained[3].name', message: 'must have an entry whose use is usual' },
    ]);
    expect(read(aServiceRequest({ clinician: { name } }))).toMatchObject({
      request: { requester: { name: { family: 'First', given: [] } } },
    });
  });
});

describe('extension', () => {
  const action = { url: `${fhir}/extension/action`, valueString: 'OrderTest' };
  const author = { url: `${fhir}/extension/author`, valueReference: { reference: '#author' } };
  const fault = (url: string) => ({
    path: 'extension',
    message: `must have exactly one entry whose url is ${url}`,
  });
  const faultsWith = (...extension: Json[]) => faultsOf(aServiceRequest({ request: { extension } }));

  it('may contain its two entries in any order, and any other entries, which are ignored', () => {
    expect(faultsWith({ url: 'urn:example:other', valueString: null }, author, {}, action)).toEqual([]);
  });

  it('must contain exactly one action', () => {
    expect(faultsWith(author)).toEqual([fault(action.url)]);
    expect(faultsWith(author, action, action)).toEqual([fault(action.url)]);
  });

  it('must contain exactly one author', () => {
    expect(faultsWith(action)).toEqual([fault(author.url)]);
    expect(faultsWith(author, author, action)).toEqual([fault(author.url)]);
  });

  it('causes two errors if both action and author are missing', () => {
    expect(faultsWith()).toEqual([fault(action.url), fault(author.url)]);
  });

  it('must contain only objects', () => {
    expect(faultsWith(action, author, null, 'text')).toEqual([
      { path: 'extension[2]', message: 'must be of type object' },
      { path: 'extension[3]', message: 'must be of type object' },
    ]);
  });
});
