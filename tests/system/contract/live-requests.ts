import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { exampleOf, type OpenApi, type Operation, operationsOf, type Sent, send } from './described.ts';

/** The operations of all documents, by operation id. */
export type Operations = ReadonlyMap<string, Operation>;

export const documentPaths = [
  '/AccessApi/openapi.json',
  '/idp/openapi.json',
  '/resource/openapi.json',
  '/audit/openapi.json',
];

/** Fetches the OpenAPI documents of running services. */
export async function readOperations(url: string): Promise<Operations> {
  const documents = await Promise.all(documentPaths.map(async (path) => (await fetch(url + path)).json()));
  const operations = documents.flatMap((document) => operationsOf(document as OpenApi));
  return new Map(operations.map((operation) => [operation.operationId, operation]));
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Creates requests to running services from the examples in their documents. Replaces each placeholder for a
 * token, a launch identifier or a code with a valid value.
 */
export function liveRequests(url: string, operations: Operations) {
  const operation = (id: string): Operation => {
    const found = operations.get(id);
    if (found === undefined) throw new TypeError(`Operation ${id} does not exist`);
    return found;
  };
  const answerOf = async (id: string, sent: Sent): Promise<Response> => {
    const response = await send(url, operation(id), sent);
    if (response.status >= 400) throw new Error(`${id}: ${response.status} ${await response.text()}`);
    return response;
  };
  const bodyOf = async (id: string, sent: Sent) => (await (await answerOf(id, sent)).json()) as Json;
  const withForm = (id: string, form: Readonly<Record<string, string>>, which?: string): Sent => {
    const example = exampleOf(operation(id), which);
    return { ...example, form: { ...example.form, ...form } };
  };

  const token = async (clientId = 'example-client') => {
    const form = { client_id: clientId, client_secret: `the secret of ${clientId}` };
    return String((await bodyOf('requestToken', withForm('requestToken', form)))['access_token']);
  };
  /** Adds an access token to a request. By default, the token belongs to a client with every right. */
  const authorized = async (sent: Sent, clientId?: string): Promise<Sent> => ({
    ...sent,
    headers: { ...sent.headers, Authorization: `Bearer ${await token(clientId)}` },
  });
  /** Issues the launch of the example. `members` replaces members of the example. */
  const launch = async (members: Json = {}) => {
    const example = exampleOf(operation('issueLaunch'));
    const sent = await authorized({ ...example, json: { ...(example.json as Json), ...members } });
    return { launch: String((await bodyOf('issueLaunch', sent))['launch']) };
  };
  const code = async (members?: Json, more: Readonly<Record<string, string>> = {}) => {
    const form = { ...(await launch(members)), ...more };
    const { headers } = await answerOf('authorize', withForm('authorize', form));
    return { code: new URL(headers.get('location') ?? '').searchParams.get('code') ?? '', ...more };
  };
  const desktopTokens = async (members?: Json, more?: Readonly<Record<string, string>>) =>
    bodyOf(
      'requestTokenInDesktopRealm',
      withForm('requestTokenInDesktopRealm', await code(members, more), 'code'),
    );
  /** Returns a request that reads a resource with the access token of a new launch. */
  const reading = async (
    example: Sent,
    members?: Json,
    more?: Readonly<Record<string, string>>,
  ): Promise<Sent> => {
    const { access_token: accessToken } = await desktopTokens(members, more);
    return { ...example, headers: { ...example.headers, Authorization: `Bearer ${String(accessToken)}` } };
  };
  /** Returns a request that reads a FHIR resource of a new launch by its id. */
  const readingFhir = async (example: Sent, type: string): Promise<Sent> => {
    const tokens = await desktopTokens({}, { scope: 'openid fhirUser launch patient/*.rs' });
    const { access_token: accessToken, id_token: idToken } = tokens;
    const { fhirUser } = decodeJwt<{ fhirUser: string }>(String(idToken));
    const [{ reference }] = tokens['fhirContext'] as [{ reference: string }];
    const addresses = [`Patient/${String(tokens['patient'])}`, fhirUser, reference];
    const id =
      addresses
        .find((address) => address.includes(`${type}/`))
        ?.split('/')
        .at(-1) ?? '';
    return {
      ...example,
      path: { ...example.path, id },
      headers: { ...example.headers, Authorization: `Bearer ${String(accessToken)}` },
    };
  };
  const withFreshIdentifier = (sent: Sent): Sent => {
    const payload = sent.json as { identifier: [Json] };
    return { ...sent, json: { ...payload, identifier: [{ ...payload.identifier[0], value: randomUUID() }] } };
  };
  const launchToken = async () => {
    const sent = withFreshIdentifier(exampleOf(operation('requestLaunchUrl')));
    const { url: launchUrl } = await bodyOf('requestLaunchUrl', await authorized(sent));
    return { launchToken: new URL(String(launchUrl)).searchParams.get('launchToken') ?? '' };
  };

  const special: Readonly<Record<string, (example: Sent) => Promise<Sent>>> = {
    requestLaunchUrl: (example) => authorized(withFreshIdentifier(example)),
    validate: (example) => authorized(example),
    openLaunchUrl: async (example) => ({ ...example, query: { ...example.query, ...(await launchToken()) } }),
    postLaunchUrl: async () => withForm('postLaunchUrl', await launchToken()),
    revokeToken: async () => withForm('revokeToken', { token: await token() }),
    introspectToken: async () => authorized(withForm('introspectToken', { token: await token() })),
    requestTokenInDesktopRealm: async () => withForm('requestTokenInDesktopRealm', await code(), 'code'),
    revokeTokenInDesktopRealm: async () =>
      withForm('revokeTokenInDesktopRealm', { token: String((await desktopTokens())['refresh_token']) }),
    introspectTokenInDesktopRealm: async () =>
      authorized(
        withForm('introspectTokenInDesktopRealm', { token: String((await desktopTokens())['access_token']) }),
      ),
    issueLaunch: (example) => authorized(example),
    endLaunch: async (example) =>
      authorized({ ...example, path: { ...example.path, id: (await launch()).launch } }),
    endLaunches: (example) => authorized(example),
    authorize: async () => withForm('authorize', await launch()),
    authorizeByGet: async (example) => ({ ...example, query: { ...example.query, ...(await launch()) } }),
    pushAuthorizationRequest: async () => withForm('pushAuthorizationRequest', await launch()),
    getMe: (example) => reading(example),
    getPatient: (example) => reading(example),
    getUserInfo: (example) => reading(example),
    getUserInfoByPost: (example) => reading(example),
    listAuditEvents: (example) => authorized(example),
    listAuditEventsByBody: (example) => authorized(example),
    listFhirAuditEvents: (example) => authorized(example),
    listFhirAuditEventsByForm: (example) => authorized(example),
    readPatient: (example) => readingFhir(example, 'Patient'),
    searchPatient: async (example) => {
      const sent = await readingFhir(example, 'Patient');
      return { ...sent, query: { _id: sent.path['id'] ?? '' } };
    },
    readPractitioner: (example) => readingFhir(example, 'Practitioner'),
    readOrganization: (example) => readingFhir(example, 'Organization'),
  };

  return {
    authorized,
    token,
    launch,
    desktopTokens,
    reading,
    withForm,
    /** Returns a request that this operation accepts once. */
    live: async (id: string): Promise<Sent> => {
      const example = exampleOf(operation(id));
      return (await special[id]?.(example)) ?? example;
    },
  };
}
