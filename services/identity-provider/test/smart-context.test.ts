import { randomBytes } from 'node:crypto';
import { createSealer, type Sealer } from '@clinical-launch/crypto/sealing';
import { tokenContextPurpose } from '@clinical-launch/crypto/sealing-purposes';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  aLaunch,
  aPartner,
  aPatient,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  runDesktop,
} from './running-desktop.ts';
import { deploymentSealer, record } from './running-identity-provider.ts';

const smartScopes = ['openid', 'fhirUser', 'launch', 'launch/patient', 'patient/*.rs', 'user/*.read'];
const scopes = [...smartScopes, 'offline_access', 'authorization_details', 'resource.read'];
const everyScope = scopes.join(' ');

/** Decrypts the launch context in access tokens. */
let contextSealer: Sealer = deploymentSealer;

let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  const partners = [aPartner({ scopes }), aPartner({ clientId: 'other', scopes })];
  const open: Sealer['open'] = (purpose, ...sealed) =>
    (purpose === tokenContextPurpose ? contextSealer : deploymentSealer).open(purpose, ...sealed);
  running = await runDesktop({
    clock: new TestClock(),
    storage,
    realms: desktopRealms({ desktop: { partners } }),
    sealer: { ...deploymentSealer, open },
  });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

type Member = Readonly<Record<string, unknown>>;

/** Returns the token response of a new launch, and the claims of its ID token. */
async function answerOf(scope: string, launched: Member = {}, fields: Fields = {}) {
  const client_id = fields.client_id ?? 'partner';
  const launch = await running.launchFor({ client_id, ...launched });
  const code = await running.codeFor({ scope, client_id }, { launch });
  return read(await running.postToken({ ...code, scope }));
}

async function read(response: Response) {
  const tokens = record(await response.json());
  return { tokens, claims: decodeJwt(String(tokens.id_token)) };
}

describe('a token response with the scope launch', () => {
  it('contains the launch context after the code and after each refresh', async () => {
    const { tokens } = await answerOf(everyScope);
    const refreshed = await read(await running.refresh(String(tokens.refresh_token)));
    const { patient, need_patient_banner, fhirContext } = tokens;
    expect(refreshed.tokens).toMatchObject({ patient, need_patient_banner, fhirContext });
    expect(patient).toMatch(/^[0-9a-f]{32}$/);
  });

  it('contains the launch context with the scope launch/patient too, and omits it if both scopes are missing', async () => {
    const { tokens } = await answerOf('openid launch/patient');
    expect(tokens).toHaveProperty('patient');
    const { tokens: without } = await answerOf('openid fhirUser patient/*.rs resource.read');
    expect(Object.keys(without).filter((name) => /patient|fhirContext/.test(name))).toEqual([]);
  });
});

describe('an introspection response', () => {
  it.each([
    everyScope,
    'openid launch/patient',
    'openid fhirUser patient/*.rs',
    'openid authorization_details',
  ])(
    'repeats the launch context and fhirUser for the scope %s, and contains no other patient data',
    async (scope) => {
      const { tokens, claims } = await answerOf(scope);
      for (const token of [tokens.access_token, tokens.refresh_token]) {
        const reported = await running.introspect(String(token));
        const { patient, need_patient_banner, fhirContext, fhirUser } = reported;
        expect({ patient, need_patient_banner, fhirContext }).toEqual({
          patient: tokens.patient,
          need_patient_banner: tokens.need_patient_banner,
          fhirContext: tokens.fhirContext,
        });
        expect(fhirUser).toBe(claims.fhirUser);
        expect(reported).toMatchObject({ active: true, scope });
        const members = Object.keys(reported).join();
        expect(members).not.toMatch(/launch_context|authorizationDetails|authorization_details/);
        expect(JSON.stringify(reported)).not.toMatch(/Bhriain|9434765919|-1960\b|\b1960-/);
      }
    },
  );

  it('reports an inactive token if the key of the token’s launch context was removed', async () => {
    const { tokens } = await answerOf(everyScope);
    contextSealer = createSealer([{ id: 'k2', key: randomBytes(32) }]);
    expect(await running.introspect(String(tokens.access_token))).toEqual({ active: false });
    contextSealer = deploymentSealer;
  });
});

describe('the id of the patient', () => {
  const idFor = async (launched: Member, fields?: Fields) =>
    (await answerOf('openid launch', launched, fields)).tokens.patient;
  const identified = (...identifiers: [identifierType: string, identifierValue: string][]) => ({
    patient: aPatient({
      'patient-identifiers': identifiers.map(([identifierType, identifierValue]) => ({
        identifierType,
        identifierValue,
      })),
    }),
  });
  const nhsNumber = ['NHS Number', '9434765919'] as const;
  const elsewhere = {
    organisation: { ...aLaunch().organisation, orgERN: 'ern:org:13', ods: 'W92002' },
  };

  it('is the same in every launch of a partner, however the NHS number is written', async () => {
    const expected = await idFor({});
    expect(await idFor({})).toBe(expected);
    expect(await idFor({ ...identified(['NHS Number', '943 476 5919']), ...elsewhere })).toBe(expected);
  });

  it('differs between patients and between partners, and does not contain the NHS number', async () => {
    const id = await idFor(identified([...nhsNumber]));
    const ofOthers = [
      await idFor(identified(['NHS Number', '9434765870'])),
      await idFor(identified([...nhsNumber]), { client_id: 'other' }),
    ];
    expect(new Set([id, ...ofOthers]).size).toBe(3);
    expect(id).not.toContain('9434765919');
  });

  it('differs between organisations for a patient without an NHS number', async () => {
    const local = identified(['EHR Partner ID', '90210']);
    expect(await idFor({ ...local, ...elsewhere })).not.toBe(await idFor(local));
    expect(await idFor(local)).toBe(await idFor(local));
  });

  it.each([
    ['is a placeholder of ten equal digits', '0000000000'],
    ['has a wrong check digit', '9434765918'],
  ])('differs between launches if the only identifier %s', async (_fault, value) => {
    const doubtful = identified(['NHS Number', value]);
    expect(await idFor(doubtful)).not.toBe(await idFor(doubtful));
  });
});

describe('the ID token', () => {
  it('contains fhirUser, a URL below the issuer, only with the scope fhirUser', async () => {
    const { claims } = await answerOf('openid fhirUser launch');
    expect(claims).not.toHaveProperty('authorization_details');
    const base = `${running.issuer(realm)}/Practitioner/`;
    expect(claims.fhirUser).toMatch(new RegExp(`^${base}[0-9a-f]{32}$`));
    const { claims: without } = await answerOf('openid launch patient/*.rs');
    expect(without).not.toHaveProperty('fhirUser');
  });

  it('contains authorization_details, equal to the JSON in authorizationDetails, only with the scope authorization_details', async () => {
    const { claims } = await answerOf('openid launch authorization_details');
    expect(claims.authorization_details).toEqual([
      { type: 'patient-context', version: '1.0.0', ...aPatient() },
    ]);
    expect(JSON.parse(String(claims.authorizationDetails))).toEqual(claims.authorization_details);
    expect(claims).not.toHaveProperty('fhirUser');
  });
});

describe('the discovery documents', () => {
  const wellKnown = async (name: string) =>
    record(await (await running.idp.get(`/${realm}/v2.0/.well-known/${name}`)).json());

  it('list the capabilities and claims that the scopes of the partners allow', async () => {
    const { capabilities, scopes_supported } = await wellKnown('smart-configuration');
    expect(capabilities).toEqual([
      'launch-ehr',
      'client-public',
      'authorize-post',
      'sso-openid-connect',
      'context-ehr-patient',
      'context-banner',
      'permission-offline',
      'permission-patient',
      'permission-user',
      'permission-v1',
      'permission-v2',
    ]);
    expect(scopes_supported).toEqual(scopes);
    const { claims_supported } = await wellKnown('openid-configuration');
    expect(claims_supported).toEqual(expect.arrayContaining(['fhirUser', 'authorization_details']));
  });
});
