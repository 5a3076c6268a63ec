import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Type } from '@clinical-launch/contracts/type';
import {
  buildServiceRequest,
  createPkcePair,
  createTokenCache,
  type LaunchRequest,
  type Namespaces,
} from '@clinical-launch/pms-client';
import { type Answers, type Option, readText, UsageError } from '@clinical-launch/process/command-line';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import { namespaceSettings, namespacesOf } from '@clinical-launch/runtime/namespace-settings';
import { audienceSetting } from '@clinical-launch/trust/trust';
import { requiredOption, type ToolCommand } from './command.ts';

const option = (name: string, value: string, summary: string): Option => ({ name, value, summary });
const optional = (name: string, value: string, summary: string): Option => ({
  ...option(name, value, summary),
  isOptional: true,
});
const url: Option = {
  ...option('url', 'address', 'The address of the platform, such as https://launch.example.org'),
  faultOf: (value) => (/^https?:\/\/[^/?#]+$/.test(value) ? undefined : 'must be an address without a path'),
};
const realm = optional('realm', 'name', 'The realm of both clients, if they have secrets');
const client = option('client', 'id', 'The client that launches');
const secret = optional('secret', 'file', 'The file with the secret of the client');
const token = optional('token', 'file', 'The file with an access token, for a client of another issuer');
const practice = option('practice', 'code', 'The code of an agreed practice, such as B82017 or local:0042');
const author = option('author', 'username', 'The username of an agreed user of the practice');
const clinician = option('clinician', 'code', 'The professional code of an agreed clinician');
const performer = option('performer', 'code', 'The code of an agreed laboratory');
const auditClient = optional('audit-client', 'id', 'A second client that may read the audit trail');
const auditSecret = optional('audit-secret', 'file', 'The file with the secret of the second client');

const environmentSchema = Type.Object({ AUDIENCE: audienceSetting, ...namespaceSettings });
const settings = [
  { name: 'AUDIENCE', summary: 'The audience of access tokens, if the platform does not use the default' },
  {
    name: 'FHIR_NS, NHS_NS, HL7UK_NS',
    summary: 'The namespaces, if the platform does not use the defaults',
  },
];

/** `./clinical-launch smoke`: launches once as a practice system does, without an order. */
export const smoke: ToolCommand = {
  details:
    'Opens the list of reports (PatientReportList) of an invented patient, ends the session at once, and opens the ' +
    'launch URL again, which must be answered 410. Leaves one launch in the audit trail, and no order.',
  example:
    '--url http://localhost:8080 --realm demo --client pms-demo --secret secret.txt --practice B82017 ' +
    '--author a.okonkwo --clinician G8134567 --performer RCB00',
  options: [
    url,
    realm,
    client,
    secret,
    token,
    practice,
    author,
    clinician,
    performer,
    auditClient,
    auditSecret,
  ],
  settings,
  async run({ options, environment, print, isJson }) {
    const say = (line: string) => (isJson ? Promise.resolve() : print(line));
    const [audit] = options.get(auditClient.name) ?? [];
    const needed = [
      ...(options.has(token.name) ? [] : [realm, secret]),
      ...(audit === undefined ? [] : [realm, auditSecret]),
    ];
    const missing = needed.filter(({ name }) => !options.has(name)).map(({ name }) => `--${name} is missing`);
    if (missing.length > 0) throw new UsageError([...new Set(missing)].join('\n'));
    const platform = platformOf(options, environment);
    await say('This launch of an invented patient stays in the audit trail. It creates no order.');
    const accessToken =
      fileIn(options, token) ?? (await platform.tokenFor(requiredOption(options, client), secret));
    await say('ok  access token');
    const launch = await platform.requestLaunch(accessToken, aLaunch(options));
    await say(`ok  launch URL, correlation id ${launch.correlationId}`);
    await openAndEnd(platform, launch.url);
    await say('ok  opened in a browser without scripts, and the session ended');
    await expectStatus(410, await platform.send(launch.url), 'A second use of the launch URL');
    await say('ok  a second use of the launch URL is answered 410');
    if (audit !== undefined) {
      await expectAudited(platform, await platform.tokenFor(audit, auditSecret), launch.correlationId);
      await say('ok  the audit trail has the launch and the end of its session');
    }
    return { lines: [], result: { correlationId: launch.correlationId, isAudited: audit !== undefined } };
  },
};

/** Returns the trimmed content of the file that an option names. @throws UsageError if it cannot be read */
const fileIn = (options: Answers, { name }: Option): string | undefined => {
  const [path] = options.get(name) ?? [];
  return path === undefined ? undefined : readText(path).trim();
};

/** Returns a launch for the reports of an invented patient. NHS numbers that begin with 999 are not issued. */
function aLaunch(options: Answers): LaunchRequest {
  const name = { family: 'Smoketest', given: ['Clinical', 'Launch'] };
  const code = requiredOption(options, practice);
  const [, system, value = ''] = /^(?:(ods|local):)?(.+)$/.exec(code) ?? [];
  return {
    action: 'PatientReportList',
    originatingId: `smoke-${randomUUID()}`,
    authoredOn: new Date().toISOString(),
    author: { username: requiredOption(options, author), name },
    patient: {
      name,
      birthDate: '1970-01-01',
      gender: 'unknown',
      address: { lines: ['Not known'] },
      identifiers: [{ system: 'nhs-number', value: '9990000018' }],
      telecom: [],
    },
    requester: {
      identifier: { system: 'professional-code', value: requiredOption(options, clinician) },
      name,
    },
    practice: {
      identifier: { system: system === 'local' ? 'local-org-code' : 'ods-organization-code', value },
      name: code,
    },
    performer: {
      identifier: { system: 'performing-org', value: requiredOption(options, performer) },
      name: requiredOption(options, performer),
    },
  };
}

/** @throws Error with the status and the answered faults, unless the status is the expected one */
async function expectStatus(status: number, response: Response, what: string): Promise<string> {
  const text = await response.text();
  if (response.status === status) return text;
  const id = response.headers.get('x-correlation-id');
  const isPage = response.headers.get('content-type')?.includes('html') === true;
  const answered = [isPage ? '' : text, id === null ? '' : `Correlation id ${id}`].filter(Boolean).join('\n');
  throw new Error(`${what} was answered ${response.status}, not ${status}\n${answered}`.trim());
}

/** @throws Error with the address and the cause, such as an unknown certificate, if nothing answers there */
async function answerOf<Answer>(base: string, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The message of fetch is only "fetch failed". A cause of several attempts has a code and no message.
    const { cause = error.name === 'TimeoutError' ? error : undefined } = error;
    if (!(cause instanceof Error)) throw error;
    const why = cause.message === '' && 'code' in cause ? cause.code : cause.message;
    throw new Error(`${base} does not answer: ${String(why)}`, { cause });
  }
}

function platformOf(options: Answers, environment: Environment) {
  const read = readEnvironment(environmentSchema, environment);
  const namespaces: Namespaces = namespacesOf(read);
  const base = requiredOption(options, url);
  /** Sends a request to this address of the platform, even if the platform names another in its answers. */
  const send = (address: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(address, base);
    const signal = AbortSignal.timeout(10_000);
    return answerOf(base, fetch(base + pathname + search, { redirect: 'manual', signal, ...init }));
  };
  return {
    base,
    send,
    tokenFor(clientId: string, secretOption: Option): Promise<string> {
      const tokens = createTokenCache({
        tokenUrl: `${base}/idp/${requiredOption(options, realm)}/oauth2/v2.0/token`,
        clientId,
        clientSecret: fileIn(options, secretOption) ?? '',
        scope: `${read.AUDIENCE}/.default`,
      });
      return answerOf(base, tokens.get());
    },
    async requestLaunch(accessToken: string, launch: LaunchRequest) {
      const { codeVerifier, codeChallenge } = createPkcePair();
      const response = await send('/AccessApi/RequestLaunchUrl', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${accessToken}`,
          'Content-Type': 'application/json',
          'Code-Challenge': codeChallenge,
        },
        body: JSON.stringify(buildServiceRequest(launch, namespaces)),
      });
      const correlationId = response.headers.get('x-correlation-id') ?? '';
      const answer: unknown = JSON.parse(await expectStatus(200, response, 'RequestLaunchUrl'));
      const issued =
        typeof answer === 'object' && answer !== null && 'url' in answer ? answer.url : undefined;
      return { url: `${String(issued)}&codeVerifier=${codeVerifier}`, correlationId };
    },
  };
}

type Platform = ReturnType<typeof platformOf>;

/** Opens a launch URL as a browser without scripts does, and signs out. */
async function openAndEnd({ base, send }: Platform, launchUrl: string): Promise<void> {
  const opened = await send(launchUrl);
  const cookies = opened.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]);
  const init = { headers: { Cookie: cookies.join('; ') } };
  const launchPage = await expectStatus(200, opened, 'The launch URL');
  const [, page = ''] = /content="0; url=([^"]+)"/.exec(launchPage) ?? [];
  const first = await send(page, init);
  // The first page of a list is at another address.
  const list = first.headers.get('location');
  const shown = list === null ? first : await send(new URL(list, new URL(page, base)).href, init);
  const ended = await send(`${page}sign-out`, { ...init, method: 'POST', body: new URLSearchParams() });
  await expectStatus(200, shown, 'The page of the launch');
  await expectStatus(200, ended, 'The sign-out');
}

/** Waits until the audit trail lists the launch and the end of its session. Events arrive within seconds. */
async function expectAudited({ send }: Platform, accessToken: string, correlationId: string): Promise<void> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(`/audit/events?correlationId=${correlationId}`, { headers });
    const events = await expectStatus(200, response, 'The audit trail');
    if (['launch.url.issued.v1', 'launch.session.ended.v1'].every((type) => events.includes(type))) return;
    if (attempt === 60) throw new Error('After 30 seconds, the audit trail has not stored the launch');
    await pause(500);
  }
}
