import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { practiceBindingOf } from '../src/coded-identifiers.ts';
import { faultCodes } from '../src/fault.ts';
import { read, wholeFaultsOf } from './fhir-reading.ts';

const valid = aServiceRequest();

/** Rows of path, value, and the code and resource of the fault. */
const faulty: [string, Json | undefined, string, string][] = [
  ['authoredOn', undefined, 'required', 'ServiceRequest'],
  ['authoredOn', 'yesterday', 'value', 'ServiceRequest'],
  ['performer', [], 'required', 'ServiceRequest'],
  ['extension[0].url', 'urn:other', 'invariant', 'ServiceRequest'],
  ['extension[0].valueString', 'Delete', 'code-invalid', 'ServiceRequest'],
  ['subject.reference', 'Patient/patient', 'value', 'ServiceRequest'],
  ['subject.reference', '#nobody', 'not-found', 'ServiceRequest'],
  ['subject.reference', '#practice', 'value', 'ServiceRequest'],
  ['contained[0].name[0].given', undefined, 'required', 'Person #author'],
  ['contained[1].birthDate', 19580228, 'structure', 'Patient #patient'],
  ['contained[1].birthDate', '9999-01-01', 'value', 'Patient #patient'],
  ['contained[1].gender', 'F', 'code-invalid', 'Patient #patient'],
  ['contained[1].name[0].family', 'x'.repeat(71), 'too-long', 'Patient #patient'],
  ['contained[1].name[0].given', ['x'.repeat(36)], 'too-long', 'Patient #patient'],
  ['contained[1].name[0].use', 'old', 'invariant', 'Patient #patient'],
  ['contained[1].telecom', Array(5).fill({ system: 'phone', value: '1' }), 'structure', 'Patient #patient'],
  ['contained[2].practitioner.reference', '#nobody', 'not-found', 'PractitionerRole #requester'],
  ['contained[3].name[0].use', 'old', 'invariant', 'Practitioner #clinician'],
  ['contained[4].identifier[0].system', 'urn:other', 'invariant', 'Organization #practice'],
];

describe('a fault', () => {
  it.each(faulty)('in %s (%j) has the code %s and the resource %s', (path, value, code, resource) => {
    const faults = wholeFaultsOf(replaceAt(valid, path, value));
    expect(faults.map((fault) => [fault.code, fault.resource])).toEqual([[code, resource]]);
  });

  it('about a practice that is not agreed has the code business-rule and names the organisation', () => {
    const binding = practiceBindingOf([{ system: 'ods-organization-code', code: 'X99999' }]);
    expect(read(valid, binding)).toMatchObject({
      faults: [{ code: 'business-rule', resource: 'Organization #practice' }],
    });
  });

  it('about a duplicate id names the resource, and the ambiguous reference', () => {
    const contained = [...(valid.contained as Json[]), (valid.contained as Json[])[1]] as Json[];
    expect(wholeFaultsOf({ ...valid, contained })).toMatchObject([
      { path: 'subject.reference', code: 'multiple-matches', resource: 'ServiceRequest' },
      { path: 'contained[6].id', code: 'duplicate', resource: 'Patient #patient' },
    ]);
  });

  it('has the code structure if the payload is not a ServiceRequest', () => {
    expect(wholeFaultsOf([])).toMatchObject([{ path: '', code: 'structure', resource: 'ServiceRequest' }]);
  });

  it('names the ServiceRequest in place of a resource of an unknown type', () => {
    for (const resourceType of ['Whitfield', 'Device', 'constructor']) {
      const contained = [...(valid.contained as Json[]), { resourceType, id: 'patient' }] as Json[];
      const [fault] = wholeFaultsOf({ ...valid, contained }).filter(({ path }) => path === 'contained[6].id');
      expect(fault?.resource).toBe('ServiceRequest');
    }
  });

  it.each(['p', 'x'.repeat(64)])('names a resource by an id of one to 64 characters: %s', (id) => {
    const payload = replaceAt(replaceAt(valid, 'contained[1].id', id), 'subject.reference', `#${id}`);
    const faults = wholeFaultsOf(replaceAt(payload, 'contained[1].gender', 'F'));
    expect(faults.map(({ resource }) => resource)).toEqual([`Patient #${id}`]);
  });

  it.each(['Margaret Whitfield', '943 476 5919', 'x'.repeat(65), '', '#patient', 'ä', 7, null, ['patient']])(
    'does not repeat an invalid id: %j',
    (id) => {
      const faults = wholeFaultsOf(replaceAt(valid, 'contained[1].id', id));
      const named = faults.filter(({ path }) => path === 'contained[1].id');
      expect(named.map(({ resource }) => resource)).toEqual(['Patient']);
    },
  );
});

describe('the codes of faults', () => {
  it('are issue types of FHIR R4', () => {
    const issueTypes =
      'invalid structure required value invariant security login unknown expired forbidden suppressed processing not-supported duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly business-rule conflict transient lock-error no-store exception timeout incomplete throttled informational';
    expect(faultCodes.filter((code) => !issueTypes.split(' ').includes(code))).toEqual([]);
  });
});
