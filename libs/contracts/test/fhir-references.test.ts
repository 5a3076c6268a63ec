import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { faultPathsOf, faultsOf } from './fhir-reading.ts';

const valid = aServiceRequest();

/**
 * For each reference in the payload: its path, the required resource type, the id of a resource of a wrong
 * type, and the id of the correct resource.
 */
const references = [
  ['extension[1].valueReference.reference', 'Person', 'patient', 'author'],
  ['subject.reference', 'Patient', 'author', 'patient'],
  ['requester.reference', 'PractitionerRole', 'clinician', 'requester'],
  ['performer[0].reference', 'Organization', 'clinician', 'laboratory'],
  ['contained[2].practitioner.reference', 'Practitioner', 'practice', 'clinician'],
  ['contained[2].organization.reference', 'Organization', 'requester', 'practice'],
] as const;

function withContained(...more: Json[]): Json {
  const { contained } = valid;
  return { ...valid, contained: [...(Array.isArray(contained) ? contained : []), ...more] };
}

describe.each(references)('the reference %s', (path, type, otherId, ownId) => {
  it('is required', () => {
    const holder = path.slice(0, -'.reference'.length);
    expect(faultsOf(replaceAt(valid, path, undefined))).toEqual([{ path, message: 'is required' }]);
    expect(faultPathsOf(replaceAt(valid, holder, null))).toEqual([holder]);
  });

  it('must be # followed by a valid id', () => {
    const message = 'must be # followed by the id of a contained resource';
    for (const wrong of [ownId, `${type}/${ownId}`, '', '#', '#a b', `##${ownId}`, `#${'x'.repeat(65)}`]) {
      expect(faultsOf(replaceAt(valid, path, wrong))).toEqual([{ path, message }]);
    }
  });

  it('must refer to a contained resource', () => {
    const message = 'must refer to a resource in contained';
    for (const wrong of ['#nobody', `#${ownId.toUpperCase()}`, '#constructor', '#-']) {
      expect(faultsOf(replaceAt(valid, path, wrong))).toEqual([{ path, message }]);
    }
  });

  it(`must refer to a ${type}`, () => {
    expect(faultsOf(replaceAt(valid, path, `#${otherId}`))).toEqual([
      { path, message: `must refer to a resource of type ${type}` },
    ]);
  });

  it('must not refer to a resource of an ignored type', () => {
    const payload = replaceAt(withContained({ resourceType: 'Device', id: 'device' }), path, '#device');
    expect(faultPathsOf(payload)).toEqual([path]);
  });

  it('must refer to exactly one resource', () => {
    const doubled = withContained({ resourceType: 'Device', id: ownId });
    expect(faultsOf(doubled)).toEqual([
      { path, message: 'must refer to exactly one resource in contained' },
      { path: 'contained[6].id', message: 'must not be the id of another contained resource' },
    ]);
  });
});

describe('the list `contained`', () => {
  const practice = { resourceType: 'Organization', id: 'other', identifier: [], name: 'Other' };

  it('is validated completely, including resources that nothing refers to', () => {
    expect(faultPathsOf(withContained(practice))).toEqual(['contained[6].identifier']);
  });

  it('is validated completely, including a resource whose only reference is broken', () => {
    const broken = replaceAt(replaceAt(valid, 'subject.reference', '#nobody'), 'contained[1].gender', 'F');
    expect(faultPathsOf(broken)).toEqual(['subject.reference', 'contained[1].gender']);
  });

  it('may contain its resources in any order', () => {
    const { contained } = valid;
    const turned = { ...valid, contained: Array.isArray(contained) ? contained.toReversed() : [] };
    expect(faultsOf(turned)).toEqual([]);
  });

  it('may contain resources of ignored types, with duplicate ids or without ids', () => {
    const device = { resourceType: 'Device', id: 'device', name: { deep: [null] } };
    expect(faultsOf(withContained(device, device, { resourceType: 'Specimen' }))).toEqual([]);
  });

  it('must contain only objects that have a resourceType', () => {
    expect(faultPathsOf(withContained(null, [], 'text', {}, { resourceType: 7 }))).toEqual([
      'contained[6]',
      'contained[7]',
      'contained[8]',
      'contained[9].resourceType',
      'contained[10].resourceType',
    ]);
  });

  it('causes only one error if it is missing', () => {
    expect(faultsOf(replaceAt(valid, 'contained', undefined))).toEqual([
      { path: 'contained', message: 'is required' },
    ]);
  });

  it('causes an error for every reference of the ServiceRequest if the list is empty', () => {
    expect(faultPathsOf({ ...valid, contained: [] })).toEqual(references.slice(0, 4).map(([path]) => path));
  });

  it('must contain an id in each resource of a supported type', () => {
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const path = `contained[${index}].id`;
      expect(faultsOf(replaceAt(valid, path, undefined))).toContainEqual({ path, message: 'is required' });
    }
  });

  it('may contain one organisation that is both practice and performer', () => {
    expect(faultsOf(replaceAt(valid, 'performer[0].reference', '#practice'))).toEqual([]);
  });
});
