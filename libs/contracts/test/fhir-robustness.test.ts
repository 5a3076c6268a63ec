import {
  mutatedServiceRequest,
  validServiceRequest,
} from '@clinical-launch/testing/arbitrary-service-request';
import { editAt, type Json, pathsOf, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { faultPathsOf, faultsOf, read, wholeFaultsOf } from './fhir-reading.ts';

const valid = aServiceRequest();
const contained = entries(valid['contained']);

describe('the reader of a ServiceRequest', () => {
  it('reports five errors at once', () => {
    const changes: readonly (readonly [string, Json])[] = [
      ['extension[0].valueString', 'Order'],
      ['authoredOn', 'today'],
      ['contained[1].name[0].family', 'x'.repeat(71)],
      ['contained[1].name[0].given', ['x'.repeat(36)]],
      ['contained[1].address[0].postalCode', 'YO21 3PU 123'],
    ];
    const payload = changes.reduce<Json>((changed, [path, value]) => replaceAt(changed, path, value), valid);
    expect(faultPathsOf(payload).toSorted()).toEqual(changes.map(([path]) => path).toSorted());
  });

  it('accepts randomly generated valid payloads, and returns the name of the patient unchanged', () => {
    fc.assert(
      fc.property(validServiceRequest(), (payload) => {
        expect(faultsOf(payload)).toEqual([]);
        expect(read(payload)).toHaveProperty('request.patient.name.family', usualFamilyOf(payload));
      }),
      { numRuns: 500 },
    );
  });

  it('never throws for randomly changed payloads, and refuses most of them', () => {
    let refused = 0;
    fc.assert(
      fc.property(mutatedServiceRequest(), (payload) => {
        const reading = read(JSON.parse(JSON.stringify(payload)));
        if ('faults' in reading) refused += 1;
        expect('request' in reading || reading.faults.length > 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(1000);
  });

  it.each([undefined, null, 0, true, 'text', [], [valid]])(
    'reports one error for the whole payload if it is %j',
    (payload) => {
      expect(faultsOf(payload)).toEqual([{ path: '', message: 'must be of type object' }]);
    },
  );

  it('reports every missing top-level element of an empty payload', () => {
    expect(faultPathsOf({})).toEqual([
      'resourceType',
      'extension',
      'identifier',
      'subject',
      'authoredOn',
      'requester',
      'performer',
      'contained',
    ]);
  });

  it('ignores a member named __proto__, and resource types named like members of Object.prototype', () => {
    const text = JSON.stringify(valid);
    const disguised = JSON.parse(`{"__proto__":{"subject":{"reference":"#patient"}},${text.slice(1)}`);
    expect(faultsOf(disguised)).toEqual([]);
    delete disguised.subject;
    expect(faultsOf(disguised)).toEqual([{ path: 'subject', message: 'is required' }]);
    const types = ['__proto__', 'constructor', 'toString'].map((resourceType) => ({ resourceType }));
    expect(faultsOf({ ...valid, contained: [...contained, ...types] })).toEqual([]);
  });

  it('accepts ignored elements that are nested to any depth', () => {
    const levels = 4000;
    const note = JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(faultsOf({ ...valid, note })).toEqual([]);
    expect(faultPathsOf({ ...valid, subject: note })).toEqual(['subject']);
  });

  it('returns only the supported elements', () => {
    const marked = pathsOf(valid).reduce<Json>(
      (payload, steps) =>
        editAt(payload, steps, (node) =>
          typeof node === 'object' && node !== null && !Array.isArray(node)
            ? { ...node, extra: 'dropped' }
            : node,
        ),
      valid,
    );
    expect(JSON.stringify(marked).split('dropped').length).toBeGreaterThan(30);
    expect(read(marked)).toEqual(read(valid));
    expect(read(marked)).toHaveProperty('request');
  });
});

describe('the errors of a payload', () => {
  it('contain no value of the payload, whichever element is invalid', () => {
    const sentinel = 'Sentinel\0';
    for (const steps of pathsOf(valid)) {
      const spoilt = editAt(valid, steps, (node) => {
        if (typeof node === 'string') return sentinel;
        return Array.isArray(node) ? { [sentinel]: sentinel } : [sentinel];
      });
      expect(JSON.stringify(read(spoilt))).not.toContain('Sentinel');
    }
  });

  it('contain no value of the payload if every text in it is invalid', () => {
    const spoilt = JSON.parse(JSON.stringify(valid), (key, value) =>
      typeof value === 'string' && key !== 'resourceType' && key !== 'url'
        ? `Sentinel ${'x'.repeat(2000)}`
        : value,
    );
    expect(faultsOf(spoilt).length).toBeGreaterThan(30);
    expect(JSON.stringify(wholeFaultsOf(spoilt))).not.toMatch(/Sentinel|xxx/);
  });

  it('are limited to 200', () => {
    const broken = Array.from({ length: 200 }, () => ({ resourceType: 'Patient' }));
    expect(faultsOf({ ...valid, contained: broken })).toHaveLength(200);
    expect(faultsOf({ ...valid, identifier: broken })).toHaveLength(200);
  });

  it('do not include references to resources that the reader did not validate after 200 errors', () => {
    const broken = Array.from({ length: 150 }, () => ({ resourceType: 'Patient' }));
    const paths = faultPathsOf({ ...valid, contained: [...broken, ...contained] });
    expect(paths).toHaveLength(200);
    expect(paths.filter((path) => !path.startsWith('contained['))).toEqual([]);
  });
});

describe('a payload with 200 contained resources', () => {
  const many = (resource: (index: number) => Json, length = 200 - contained.length): Json => ({
    ...valid,
    contained: [...contained, ...Array.from({ length }, (_, index) => resource(index))],
  });

  it.each<readonly [string, (index: number) => Json]>([
    ['of an unknown type that share one id', () => ({ resourceType: 'Device', id: 'device' })],
    ['that nothing refers to', (index) => ({ ...members(contained[1]), id: `patient-${index}` })],
    ['that contain references', (index) => ({ ...members(contained[2]), id: `role-${index}` })],
  ])(
    '%s is accepted, but a payload with more resources causes a single error about their number',
    (_, resource) => {
      expect(faultsOf(many(resource))).toEqual([]);
      expect(faultsOf(many(resource, 10_000))).toEqual([
        { path: 'contained', message: 'must have at most 200 entries' },
      ]);
    },
  );
});

describe('a list whose length the specification does not limit', () => {
  const practitioner = 'contained[3]';
  const lists: readonly (readonly [string, number])[] = [
    ['extension', 200],
    ['identifier', 200],
    ['contained', 200],
    [`${practitioner}.identifier`, 200],
    [`${practitioner}.name`, 200],
    [`${practitioner}.name[0].given`, 35],
    [`${practitioner}.name[0].prefix`, 35],
    ['contained[4].identifier', 200],
  ];

  it.each(lists)('(%s) causes one error if it has more than %i entries', (path, most) => {
    const tooMany = Array.from({ length: most + 1 }, () => 7);
    expect(faultsOf(replaceAt(valid, path, tooMany))).toEqual([
      { path, message: `must have at most ${most} entries` },
    ]);
  });
});

function members(node: Json | undefined): { [member: string]: Json } {
  return typeof node === 'object' && node !== null && !Array.isArray(node) ? node : {};
}

function usualFamilyOf(payload: Json): Json | undefined {
  const patient = entries(members(payload)['contained']).find(
    (one) => members(one)['resourceType'] === 'Patient',
  );
  const usual = entries(members(patient)['name']).find((name) => members(name)['use'] === 'usual');
  return members(usual)['family'];
}

function entries(node: Json | undefined): Json[] {
  return Array.isArray(node) ? node : [];
}
