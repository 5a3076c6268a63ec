import { createServiceRequestReader } from '@clinical-launch/contracts/fhir/service-request-reader';
import { actions, type LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { defaultNamespaces, type Namespaces } from '@clinical-launch/contracts/namespaces';
import { validServiceRequest } from '@clinical-launch/testing/arbitrary-service-request';
import { runsOf } from '@clinical-launch/testing/runs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildServiceRequest } from '../src/index.ts';

const otherNamespaces: Namespaces = {
  fhir: 'https://fhir.hospital.example/oltr',
  nhs: 'urn:example:nhs',
  hl7uk: 'urn:example:hl7uk',
};

/** Generates random launches by reading randomly generated payloads. */
function aLaunch(namespaces: Namespaces): fc.Arbitrary<LaunchRequest> {
  const read = createServiceRequestReader(namespaces);
  return validServiceRequest(namespaces).map((payload) => {
    const reading = read(payload);
    if ('faults' in reading) throw new Error(JSON.stringify(reading.faults));
    return reading.request;
  });
}

describe('the ServiceRequest of a launch', () => {
  it.each([
    ['the default namespaces', defaultNamespaces],
    ['other namespaces', otherNamespaces],
  ])('is read by the launch API as the same launch, with %s', (_name, namespaces) => {
    const read = createServiceRequestReader(namespaces);
    fc.assert(
      fc.property(aLaunch(namespaces), (launch) => {
        const sent: unknown = JSON.parse(JSON.stringify(buildServiceRequest(launch, namespaces)));
        expect(read(sent)).toEqual({ request: launch });
      }),
      { numRuns: runsOf(500) },
    );
  });

  it.each(actions)('can have the action %s and only the required elements', (action) => {
    const name = { family: 'Whitfield', given: [] };
    const organization = {
      identifier: { system: 'local-org-code' as const, value: 'P1' },
      name: 'Harbour Surgery',
    };
    const launch: LaunchRequest = {
      action,
      originatingId: 'HS-1',
      authoredOn: '2026-03-02T09:30:00Z',
      author: { username: 'a.okonkwo', name: { ...name, given: ['Adaeze'] } },
      patient: {
        name,
        birthDate: '1958-02-28',
        gender: 'unknown',
        address: { lines: [] },
        identifiers: [{ system: 'nhs-number', value: '9434765919' }],
        telecom: [],
      },
      requester: { identifier: { system: 'local-staff-code', value: 'S1' }, name },
      practice: organization,
      performer: { ...organization, identifier: { system: 'performing-org', value: 'RCB00' } },
    };
    const built = buildServiceRequest(launch);
    expect(createServiceRequestReader(defaultNamespaces)(built)).toEqual({ request: launch });
    expect(JSON.stringify(built)).not.toMatch(/\[\]|null/);
  });
});
