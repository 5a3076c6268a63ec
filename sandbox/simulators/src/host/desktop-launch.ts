import { createTokenCache } from '@clinical-launch/pms-client';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import { type Patient, records } from '../records.ts';
import type { Simulation } from '../simulator.ts';

/** An issued launch. `launchUrl` starts the partner application, and works once. */
export type DesktopLaunchAnswer = {
  readonly launchUrl: string;
  readonly expiresInSeconds: number;
  readonly correlationId: string;
};

/** Thrown if the identity provider refuses to issue or to end a launch. */
export class DesktopLaunchRefused extends Error {
  constructor(status: number, correlationId: string | null) {
    super(
      `The launch was refused with ${status}; its correlation id is ${correlationId ?? 'not in the answer'}`,
    );
    this.name = 'DesktopLaunchRefused';
  }
}

export type HostClient = ReturnType<typeof createHostClient>;

type WantedLaunch = {
  readonly clientId: string;
  readonly patient: Patient;
  /** The permissions of the signed-in user. */
  readonly authorizations: readonly string[];
};

/**
 * Creates the backend of a host application. The backend authenticates with its own client id, and states the
 * signed-in user.
 */
export function createHostClient({
  config,
  clock,
  recorder,
}: Pick<Simulation, 'config' | 'clock' | 'recorder'>) {
  const { platformUrl, names } = config;
  const send = recorder.fetchAs('Host application');
  const tokens = createTokenCache(
    {
      tokenUrl: `${platformUrl}/idp/demo/oauth2/v2.0/token`,
      clientId: 'host-demo',
      clientSecret: demoSecret('host-demo'),
      scope: names.scope,
      fetch: send,
    },
    () => clock.now(),
  );
  const launches = `${platformUrl}/idp/demo/desktop/launches`;
  const request = async (method: 'POST' | 'DELETE', address: string, body?: object) => {
    const token = await tokens.get();
    const response = await send(address, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 401) tokens.forget(token);
    return response;
  };

  return {
    /**
     * Requests the launch of a partner application, for the signed-in user and a patient.
     * @throws DesktopLaunchRefused, TokenRefused, or fetch's error if no answer arrives
     */
    async requestLaunch(wanted: WantedLaunch): Promise<DesktopLaunchAnswer> {
      const body = launchBody(wanted);
      let response = await request('POST', launches, body);
      // Tries once more with a new token, because the signing keys may have changed since the token was
      // cached.
      if (response.status === 401) response = await request('POST', launches, body);
      const correlationId = response.headers.get('x-correlation-id');
      if (response.status !== 201) throw new DesktopLaunchRefused(response.status, correlationId);
      const { launchUrl, expires_in } = (await response.json()) as { launchUrl: string; expires_in: number };
      return { launchUrl, expiresInSeconds: expires_in, correlationId: correlationId ?? '' };
    },

    /** Ends a launch by its correlation id. @throws as `requestLaunch` */
    async endLaunch(correlationId: string): Promise<void> {
      const response = await request('DELETE', `${launches}/${correlationId}`);
      if (!response.ok)
        throw new DesktopLaunchRefused(response.status, response.headers.get('x-correlation-id'));
    },
  };
}

const { author, practice, host } = records;

const signedIn = {
  user: {
    userERN: host.userERN,
    email: host.email,
    title: author.name.title ?? '',
    firstName: author.name.given[0] ?? '',
    familyName: author.name.family,
  },
  organisation: {
    orgERN: host.orgERN,
    orgName: practice.name,
    cdb: host.cdb,
    ods: practice.identifier.value,
  },
};

/** Returns the body of `POST …/launches`, for the signed-in user. */
export function launchBody({ clientId, patient, authorizations }: WantedLaunch) {
  return { client_id: clientId, ...signedIn, authorizations, patient: patientContext(patient) };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const genders = { male: 'Male', female: 'Female', other: 'Other', unknown: 'Unknown' };
const identifierTypes: Readonly<Record<string, string>> = {
  'nhs-number': 'NHS Number',
  'chi-number': 'CHI Number',
  'hospital-number': 'Hospital Number',
};

/** Returns the patient in the form of the ID token (desktop launch: authorizationDetails element). */
function patientContext({ name, birthDate, gender, address, identifiers, guid, ehrPartnerId }: Patient) {
  const [year = '', month = '', day = ''] = birthDate.split('-');
  return {
    title: name.title ?? '',
    forenames: name.given.join(' '),
    surname: name.family,
    gender: genders[gender],
    dob: `${day}-${months[Number(month) - 1] ?? ''}-${year}`,
    'patient-identifiers': [
      { identifierType: 'GUID', identifierValue: guid },
      { identifierType: 'EHR Partner ID', identifierValue: ehrPartnerId },
      ...identifiers.map(({ system, value }) => ({
        identifierType: identifierTypes[system] ?? system,
        identifierValue: value,
      })),
    ],
    'address-details': [{ addressLine1: [...address.lines, address.postalCode ?? []].flat().join(', ') }],
    'contact-details': [],
  };
}
