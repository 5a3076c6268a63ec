import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { makeDpopProof, thumbprintOf } from '@clinical-launch/testing/dpop-proof';
import { createTestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aContext, fhirIds, startResourceApi } from './running-resource-api.ts';

let api: Awaited<ReturnType<typeof startResourceApi>>;
beforeAll(async () => {
  api = await startResourceApi();
});
afterAll(() => api.stop());

const patient = `Patient/${fhirIds.Patient}`;
const practitioner = `Practitioner/${fhirIds.Practitioner}`;
const organization = `Organization/${fhirIds.Organization}`;

/** Checks the status and the body of a refusal: an OperationOutcome with one issue. */
async function expectOutcome(response: Response, status: number, code: string): Promise<void> {
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('cache-control'),
  ]).toEqual([status, 'application/fhir+json; charset=utf-8', 'no-store']);
  expect(await response.json()).toEqual({
    resourceType: 'OperationOutcome',
    id: response.headers.get('x-correlation-id'),
    issue: [{ severity: 'error', code, diagnostics: expect.any(String) }],
  });
}

/** Returns the Patient of a launch in which some members of the patient are different. */
async function patientWith(members: object): Promise<Record<string, unknown>> {
  const ids = { jti: randomUUID(), sid: randomUUID() };
  const context = { ...aContext, fhirIds, patient: { ...aContext.patient, ...members } };
  const token = await api.sign({ ...ids, launch_context: api.sealContext(ids, { context }) });
  const response = await api.getFhir(patient, { token });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

const metaOf = (type: string) => ({
  profile: [`https://fhir.hl7.org.uk/StructureDefinition/UKCore-${type}`],
});

describe('a FHIR resource of the launch', () => {
  it('represents the patient', async () => {
    const response = await api.getFhir(patient);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
    ]).toEqual([200, 'application/fhir+json; charset=utf-8', 'no-store']);
    expect(await response.json()).toEqual({
      resourceType: 'Patient',
      id: fhirIds.Patient,
      meta: metaOf('Patient'),
      identifier: [{ system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9434765870' }],
      name: [{ use: 'official', family: 'Ó Súilleabháin', given: ['Cathal'], prefix: ['Mr'] }],
      gender: 'male',
      birthDate: '1987-11-03',
    });
  });

  it('represents the user as a Practitioner', async () => {
    expect(await (await api.getFhir(practitioner)).json()).toEqual({
      resourceType: 'Practitioner',
      id: fhirIds.Practitioner,
      meta: metaOf('Practitioner'),
      identifier: [{ system: 'urn:ietf:rfc:3986', value: 'ern:demo:user:7f3' }],
      name: [{ use: 'official', family: 'Okonkwo', given: ['Adaeze'], prefix: ['Dr'] }],
      telecom: [{ system: 'email', value: 'a.okonkwo@example.org', use: 'work' }],
    });
  });

  it('represents the organisation', async () => {
    expect(await (await api.getFhir(organization)).json()).toEqual({
      resourceType: 'Organization',
      id: fhirIds.Organization,
      meta: metaOf('Organization'),
      identifier: [
        { system: 'https://fhir.nhs.uk/Id/ods-organization-code', value: 'B82017' },
        { system: 'urn:ietf:rfc:3986', value: 'ern:demo:org:1' },
      ],
      name: 'Harbour Surgery',
    });
  });

  it('causes an audit event of the type resource.read.v1, without patient data', async () => {
    const [sid, jti] = [randomUUID(), randomUUID()];
    const response = await api.getFhir(patient, { token: await api.sign({ sid, jti }) });
    expect(response.headers.get('x-correlation-id')).toBe(sid);
    await api.bus.idle();
    expect(api.published.findLast(({ correlationid }) => correlationid === sid)).toMatchObject({
      type: 'resource.read.v1',
      data: { issuer: api.issuer, clientId: 'partner', tokenId: jti, resource: 'Patient' },
    });
    const kept = JSON.stringify(api.published) + api.lines.join();
    expect(kept).not.toMatch(new RegExp(`Súilleabháin|Cathal|9434765870|Okonkwo|${fhirIds.Patient}`));
  });

  it('may be read by a page of any origin', async () => {
    const { headers } = await api.getFhir(patient, { token: null });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('the Patient', () => {
  it('contains identifiers of every kind; only a valid NHS number has the national system', async () => {
    const { identifier } = await patientWith({
      'patient-identifiers': [
        { identifierType: 'GUID', identifierValue: 'D3B07384-d9a0-4c9b-8f2e-000000000001' },
        { identifierType: 'EHR Partner ID', identifierValue: '90210' },
        { identifierType: 'EHR Partner ID', identifierValue: 42 },
        { identifierType: 'NHS Number', identifierValue: '943 476 5870' },
        { identifierType: 'NHS Number', identifierValue: '943 476 5871' },
      ],
    });
    expect(identifier).toEqual([
      { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9434765870' },
      { system: 'urn:ietf:rfc:3986', value: 'urn:uuid:d3b07384-d9a0-4c9b-8f2e-000000000001' },
      { type: { text: 'EHR Partner ID' }, value: '90210' },
      { type: { text: 'EHR Partner ID' }, value: '42' },
      { type: { text: 'NHS Number' }, value: '943 476 5871' },
    ]);
  });

  it('contains one NHS number with the national system, as UK Core allows, if the host sent several', async () => {
    const { identifier } = await patientWith({
      'patient-identifiers': ['943 476 5870', '9434765870', '9434765919'].map((identifierValue) => ({
        identifierType: 'NHS Number',
        identifierValue,
      })),
    });
    expect(identifier).toEqual([
      { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9434765870' },
      { type: { text: 'NHS Number' }, value: '9434765919' },
    ]);
  });

  it('contains the known members of addresses and contacts, and no empty element', async () => {
    const { address, telecom, name } = await patientWith({
      title: '',
      forenames: ' Mary  Ann ',
      'address-details': [
        {
          addressLine2: 'Cliff Street',
          addressLine1: '2 High House',
          addressLine10: 'Far End',
          postcode: 'YO21 1AA',
          town: 'Whitby',
          county: 'North Yorkshire',
          note: 'the blue door',
        },
        { addressLine1: ' ' },
      ],
      'contact-details': [
        { mobile: '07700 900123', email: 'mary@example.org', nextOfKin: '01632 960001' },
        { homePhone: '' },
      ],
    });
    expect(address).toEqual([
      {
        line: ['2 High House', 'Cliff Street', 'Far End'],
        postalCode: 'YO21 1AA',
        city: 'Whitby',
        district: 'North Yorkshire',
      },
    ]);
    expect(telecom).toEqual([
      { system: 'phone', use: 'mobile', value: '07700 900123' },
      { system: 'email', value: 'mary@example.org' },
    ]);
    expect(name).toEqual([{ use: 'official', family: 'Ó Súilleabháin', given: ['Mary', 'Ann'] }]);
  });

  it.each([
    ['Male', 'male'],
    ['FEMALE', 'female'],
    ['Indeterminate', 'other'],
    ['Unknown', 'unknown'],
    ['Not specified', 'unknown'],
  ])('maps the gender %s to the code %s', async (gender, code) => {
    expect((await patientWith({ gender })).gender).toBe(code);
  });
});

describe('the scope of the token', () => {
  const statusWith = async (scope: string, path: string) =>
    (await api.getFhir(path, { token: await api.sign({ scope }) })).status;

  it.each(['resource.read', 'patient/Patient.rs', 'patient/*.r', 'patient/Patient.read', 'user/*.rs'])(
    '%s allows reading the patient',
    async (scope) => {
      expect(await statusWith(`openid ${scope}`, patient)).toBe(200);
    },
  );

  it.each(['launch', 'fhirUser', 'patient/Observation.rs', 'patient/Patient.cud', 'patient/Patient.rsx'])(
    '%s does not allow reading the patient, and the challenge names the required scope',
    async (scope) => {
      const response = await api.getFhir(patient, { token: await api.sign({ scope: `openid ${scope}` }) });
      expect(response.headers.get('www-authenticate')).toBe(
        'Bearer error="insufficient_scope", scope="patient/Patient.rs"',
      );
      await expectOutcome(response, 403, 'forbidden');
    },
  );

  it('fhirUser allows reading only the user', async () => {
    const statuses = [practitioner, organization].map((path) => statusWith('openid fhirUser', path));
    expect(await Promise.all(statuses)).toEqual([200, 403]);
  });
});

describe('a request that may not read the resource', () => {
  it('receives 401 without a token, and 403 without the permission of the user', async () => {
    await expectOutcome(await api.getFhir(patient, { token: null }), 401, 'login');
    const token = await api.sign({ authorizations: ['clinical-cr.write'] });
    await expectOutcome(await api.getFhir(patient, { token }), 403, 'forbidden');
    expect((await api.getFhir(practitioner, { token })).status).toBe(200);
  });

  it.each([
    ['of another patient of the same partner', `Patient/${'d4'.repeat(16)}`],
    ['of the Practitioner at the address of the Patient', `Patient/${fhirIds.Practitioner}`],
    ['in capital letters', `Patient/${fhirIds.Patient.toUpperCase()}`],
    ['that is the NHS number', 'Patient/9434765870'],
    ['that has one more character', `Patient/${fhirIds.Patient}0`],
    ['with an encoded slash', `Patient/x%2f..%2f${fhirIds.Patient}`],
    ['that is a property of objects', 'Patient/__proto__'],
  ])('with an id %s receives 404', async (_which, path) => {
    await expectOutcome(await api.getFhir(path), 404, 'not-found');
  });

  it('with a token of an earlier release, which contains no FHIR ids, receives 404', async () => {
    const ids = { jti: randomUUID(), sid: randomUUID() };
    const token = await api.sign({ ...ids, launch_context: api.sealContext(ids, { context: aContext }) });
    for (const path of [patient, 'Patient/undefined'])
      await expectOutcome(await api.getFhir(path, { token }), 404, 'not-found');
  });

  it('with a token of another realm receives 401', async () => {
    const token = await api.sign({ iss: api.issuer.replace('demo', 'south') });
    await expectOutcome(await api.getFhir(patient, { token }), 401, 'login');
    const other = `${api.url}/idp/south/desktop/v2.0/${patient}`;
    const headers = { Authorization: `Bearer ${await api.sign()}` };
    await expectOutcome(await fetch(other, { headers }), 401, 'login');
  });

  it('with a token of a revoked launch receives 401', async () => {
    const sid = randomUUID();
    await api.chains.revoke(sid, { forSeconds: 3600, events: [] });
    const token = await api.sign({ sid });
    await expectOutcome(await api.getFhir(patient, { token }), 401, 'login');
  });

  it('with a key-bound token and a proof for another address receives 401', async () => {
    const key = await createTestKey('partner-key');
    const token = await api.sign({ cnf: { jkt: await thumbprintOf(key) } });
    const readWith = async (url: string) => {
      const DPoP = await makeDpopProof({ key, clock: api.clock, method: 'GET', url, token });
      return (await fetch(`${api.issuer}/${patient}`, { headers: { Authorization: `DPoP ${token}`, DPoP } }))
        .status;
    };
    const urls = [`${api.issuer}/${patient}`, `${api.issuer}/${practitioner}`, `${api.url}/resource/patient`];
    expect(await Promise.all(urls.map(readWith))).toEqual([200, 401, 401]);
  });

  it.each([
    'Patient/%2e%2e/Patient',
    `Patient/%2e%2e/${patient}`,
    `Patient/../${patient}`,
    `Patient//${fhirIds.Patient}`,
    `${patient}/`,
    `${patient}/_history/1`,
    `${patient};x=1`,
    `patient/${fhirIds.Patient}`,
    `Patient/${fhirIds.Patient}%00`,
    'Patient/%zz',
  ])('with the path %s reads nothing', async (path) => {
    const { status, body } = await sendRaw(`/idp/demo/desktop/v2.0/${path}`, await api.sign());
    expect([status >= 400 && status < 500, body.includes('Súilleabháin')]).toEqual([true, false]);
  });
});

/** Sends a GET without normalising the path. `fetch` would normalise the path. */
const sendRaw = (path: string, token: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request(api.url, { path, headers: { Authorization: `Bearer ${token}` } }, (response) => {
      let body = '';
      response.on('data', (part: Buffer) => {
        body += part.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject).end();
  });

describe('a search for the Patient by _id', () => {
  const search = `Patient?_id=${fhirIds.Patient}`;

  it('finds the resource that a read returns, and ignores other parameters', async () => {
    const [resource, response] = [await api.getFhir(patient), await api.getFhir(`${search}&name=x&_count=1`)];
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/fhir+json; charset=utf-8',
    ]);
    expect(await response.json()).toEqual({
      resourceType: 'Bundle',
      type: 'searchset',
      total: 1,
      link: [{ relation: 'self', url: `${api.issuer}/${search}` }],
      entry: [
        {
          fullUrl: `${api.issuer}/${patient}`,
          resource: await resource.json(),
          search: { mode: 'match' },
        },
      ],
    });
  });

  it.each(['d4'.repeat(16), '9434765870', fhirIds.Practitioner, `${fhirIds.Patient}&x`, '<a>'])(
    'finds nothing under the id %s',
    async (id) => {
      const response = await api.getFhir(`Patient?_id=${encodeURIComponent(id)}`);
      expect(response.status).toBe(200);
      const bundle = (await response.json()) as object;
      expect(bundle).toMatchObject({ type: 'searchset', total: 0 });
      expect(bundle).not.toHaveProperty('entry');
    },
  );

  it('requires what the read requires: a token of the realm, the scope and the permission', async () => {
    await expectOutcome(await api.getFhir(search, { token: null }), 401, 'login');
    const other = await api.sign({ iss: api.issuer.replace('demo', 'south') });
    await expectOutcome(await api.getFhir(search, { token: other }), 401, 'login');
    for (const claims of [{ scope: 'openid launch' }, { authorizations: [] }])
      await expectOutcome(await api.getFhir(search, { token: await api.sign(claims) }), 403, 'forbidden');
  });

  it('accepts a DPoP proof for its address without the query, once', async () => {
    const key = await createTestKey('partner-key');
    const token = await api.sign({ cnf: { jkt: await thumbprintOf(key) } });
    const url = `${api.issuer}/Patient`;
    const DPoP = await makeDpopProof({ key, clock: api.clock, method: 'GET', url, token });
    const send = () =>
      fetch(`${api.issuer}/${search}`, { headers: { Authorization: `DPoP ${token}`, DPoP } });
    expect([(await send()).status, (await send()).status]).toEqual([200, 401]);
  });
});

describe('the FHIR base', () => {
  it('offers reads and a search by _id: other methods are answered 405, and other searches 404', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await api.getFhir(patient, { method });
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      await expectOutcome(response, 405, 'not-supported');
    }
    const searches = ['Patient', 'Patient?_id=', 'Patient?name=a', `Patient?_id=1&_id=${fhirIds.Patient}`];
    for (const path of [...searches, `Organization?_id=${fhirIds.Organization}`, 'Organization/'])
      await expectOutcome(await api.getFhir(path), 404, 'not-found');
  });

  it('describes itself in a capability statement, which is public', async () => {
    const response = await api.getFhir('metadata', { token: null });
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
    ]).toEqual([200, 'application/fhir+json; charset=utf-8', 'public, max-age=300']);
    const statement = JSON.parse(await response.text());
    expect(statement).toMatchObject({
      resourceType: 'CapabilityStatement',
      fhirVersion: '4.0.1',
      implementation: { url: api.issuer },
    });
    const [{ resource, security }] = statement.rest;
    const definition = 'http://hl7.org/fhir/SearchParameter/Resource-id';
    const readAndSearch = {
      interaction: [{ code: 'read' }, { code: 'search-type' }],
      searchParam: [{ name: '_id', definition, type: 'token' }],
    };
    expect(resource).toEqual(
      ['Patient', 'Practitioner', 'Organization'].map((type) => ({
        type,
        supportedProfile: metaOf(type).profile,
        ...(type === 'Patient' ? readAndSearch : { interaction: [{ code: 'read' }] }),
      })),
    );
    expect(security.description).toContain(`${api.issuer}/.well-known/smart-configuration`);
  });

  it('does not exist in a realm without desktop launches', async () => {
    for (const realm of ['demo', 'nowhere', 'demo/desktop/more', 'Demo/Desktop'])
      await expectOutcome(await fetch(`${api.url}/idp/${realm}/v2.0/metadata`), 404, 'not-found');
  });
});
