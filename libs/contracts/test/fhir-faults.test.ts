import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { practiceBindingOf } from '../src/coded-identifiers.ts';
import { faultCodes } from '../src/fault.ts';
import { read, wholeFaultsOf } from './fhir-reading.ts';

const valid = aServiceRequest();

/** The path of an element, an invalid value, and the code and resource that the error must contain. */
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

describe('an error of a payload', () => {
  it.each(faulty)(
    'for the element %s with value %j has the code %s and names the resource %s',
    (path, value, code, resource) => {
      const faults = wholeFaultsOf(replaceAt(valid, path, value));
      expect(faults.map((fault) => [fault.code, fault.resource])).toEqual([[code, resource]]);
    },
  );

  it('has the code business-rule and names the Organization if the client may not launch for the practice', () => {
    const practices = practiceBindingOf([{ system: 'ods-organization-code', code: 'X99999' }]);
    expect(read(valid, { practices })).toMatchObject({
      faults: [{ code: 'business-rule', resource: 'Organization #practice' }],
    });
  });

  it('for a duplicate id names the last resource with this id, and another error names the ambiguous reference', () => {
    const contained = [...(valid.contained as Json[]), (valid.contained as Json[])[1]] as Json[];
    expect(wholeFaultsOf({ ...valid, contained })).toMatchObject([
      { path: 'subject.reference', code: 'multiple-matches', resource: 'ServiceRequest' },
      { path: 'contained[6].id', code: 'duplicate', resource: 'Patient #patient' },
    ]);
  });

  it('has the code structure if the payload is not an object', () => {
    expect(wholeFaultsOf([])).toMatchObject([{ path: '', code: 'structure', resource: 'ServiceRequest' }]);
  });

  it('names the ServiceRequest if the contained resource has an unknown type', () => {
    for (const resourceType of ['Whitfield', 'Device', 'constructor']) {
      const contained = [...(valid.contained as Json[]), { resourceType, id: 'patient' }] as Json[];
      const [fault] = wholeFaultsOf({ ...valid, contained }).filter(({ path }) => path === 'contained[6].id');
      expect(fault?.resource).toBe('ServiceRequest');
    }
  });

  it.each(['p', 'x'.repeat(64)])(
    'contains the id of the resource if the id has one to 64 characters: %s',
    (id) => {
      const payload = replaceAt(replaceAt(valid, 'contained[1].id', id), 'subject.reference', `#${id}`);
      const faults = wholeFaultsOf(replaceAt(payload, 'contained[1].gender', 'F'));
      expect(faults.map(({ resource }) => resource)).toEqual([`Patient #${id}`]);
    },
  );

  it.each(['Margaret Whitfield', '943 476 5919', 'x'.repeat(65), '', '#patient', 'ä', 7, null, ['patient']])(
    'contains only the type of the resource if its id is invalid: %j',
    (id) => {
      const faults = wholeFaultsOf(replaceAt(valid, 'contained[1].id', id));
      const named = faults.filter(({ path }) => path === 'contained[1].id');
      expect(named.map(({ resource }) => resource)).toEqual(['Patient']);
    },
  );
});

describe('the codes of errors in a payload', () => {
  it('are issue types of FHIR R4', () => {
    const issueTypes =
      'invalid structure required value invariant security login unknown expired forbidden suppressed processing not-supported duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly business-rule conflict transient lock-error no-store exception timeout incomplete throttled informational';
    expect(faultCodes.filter((code) => !issueTypes.split(' ').includes(code))).toEqual([]);
  });
});
