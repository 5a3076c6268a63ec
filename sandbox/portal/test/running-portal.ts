import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { startPlatform } from '@clinical-launch/platform/platform';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { TestClock } from '@clinical-launch/testing/test-clock';

type Changes = Readonly<Record<string, unknown>>;

const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** Returns a valid request for a synthetic patient. */
export const syntheticRequest = () =>
  aServiceRequest({
    patient: { identifier: [{ system: `${defaultNamespaces.nhs}/Id/nhs-number`, value: '9990000018' }] },
  });

/** Returns the entry of a sandbox client whose secret is its id. */
export const sandboxClient = (clientId: string, changes: Changes = {}) => ({
  clientId,
  name: clientId,
  secrets: [{ sha256: hashOf(clientId) }],
  scopes: ['ocs-launch.write'],
  practices: 'any',
  sandbox: true,
  ...changes,
});

/**
 * Starts a platform with the developer portal and the sandbox clients `vendor-a` and `vendor-b`. The secret
 * of each is its id.
 */
export async function startPortal(
  clients = [sandboxClient('vendor-a'), sandboxClient('vendor-b')],
  environment: Readonly<Record<string, string>> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'portal-'));
  const registryFile = join(directory, 'registry.json');
  const demo = readFileSync(new URL('../../../sandbox/simulators/registry.json', import.meta.url), 'utf8');
  const { realms }: { realms: { realm: string; clients: object[] }[] } = JSON.parse(demo);
  realms.find(({ realm }) => realm === 'demo')?.clients.push(...clients);
  writeFileSync(registryFile, JSON.stringify({ realms }));
  const { logger, lines } = createRecordedLogger();
  const clock = new TestClock(Date.now());
  const platform = await startPlatform({
    environment: { PORT: '0', HOST: '127.0.0.1', REGISTRY_FILE: registryFile, ...environment },
    clock,
    logger,
  });
  const url = platform.publicUrl;

  const tokenOf = async (clientId: string, secret = clientId): Promise<string> => {
    const answer = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: secret,
        scope: 'api://clinical-launch/.default',
      }),
    });
    const { access_token: token }: { readonly access_token: string } = JSON.parse(await answer.text());
    return token;
  };

  /** Exchanges a token for the address that opens a session. */
  const requestSession = (token: string) =>
    fetch(`${url}/developers/session`, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });

  /** Sends the form of the page that confirms a sign-in. */
  const openSession = (address: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/developers/session/open`, {
      method: 'POST',
      headers,
      body: new URL(address).searchParams,
      redirect: 'manual',
    });

  /** Signs in as a client. Returns a function that sends requests with its session. */
  const signIn = async (clientId: string, token?: string) => {
    const opened: { readonly url: string } = JSON.parse(
      await (await requestSession(token ?? (await tokenOf(clientId)))).text(),
    );
    const answer = await openSession(opened.url);
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    return (path: string, { headers, ...options }: RequestInit = {}) => {
      const sent = new Headers(headers);
      sent.set('Cookie', cookie);
      if (!sent.has('Accept')) sent.set('Accept', 'text/html');
      return fetch(`${url}${path}`, { redirect: 'manual', ...options, headers: sent });
    };
  };

  return {
    url,
    clock,
    lines,
    tokenOf,
    requestSession,
    openSession,
    signIn,
    /** Replaces members of a client in the registry. */
    async change(clientId: string, changes: Changes | undefined) {
      const { realms: current }: { realms: { clients: { clientId: string }[] }[] } = JSON.parse(
        readFileSync(registryFile, 'utf8'),
      );
      const changed = current.map((realm) => ({
        ...realm,
        clients: realm.clients.flatMap((one) =>
          one.clientId !== clientId ? one : changes === undefined ? [] : { ...one, ...changes },
        ),
      }));
      writeFileSync(registryFile, JSON.stringify({ realms: changed }));
    },
    async stop() {
      await platform.stop();
      rmSync(directory, { recursive: true });
    },
  };
}
