import { isMembers } from '@clinical-launch/conformance/exchange';
import { UsageError } from '@clinical-launch/process/command-line';
import { pause } from '@clinical-launch/runtime/clock';
import type { OptionValues } from './vendor-client.ts';

/** The pause in milliseconds after an error. */
const pauseMs = 2000;
/** The timeout in milliseconds of a request to the platform. A poll takes up to 15 seconds. */
const requestMs = 40_000;
/** The timeout in milliseconds of the local address. The portal waits for 10 seconds. */
const localMs = 9500;

type Options = {
  readonly client: string;
  readonly secret: string;
  readonly url: string;
  readonly target: string;
  readonly realm: string;
  readonly audience: string;
};

type Handed = {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Sends a request with the session. Signs in first if there is no session, and again after a 401. */
type Send = (path: string, options?: RequestInit) => Promise<Response>;

/**
 * Passes the callbacks of a sandbox client from the developer portal to a local address, until SIGINT or
 * SIGTERM. Prints the time, the `webhook-id` and the status of each callback, never its body.
 * @returns the exit code: 0 after a signal, or 1 if the platform refuses the client
 * @throws UsageError if an option or the environment variable CLIENT_SECRET is missing or invalid
 */
export async function listen(given: OptionValues): Promise<number> {
  const options = optionsIn(given);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const isStopping = () => stopping.signal.aborted;
  const send = createSession(options, stopping.signal);
  for (let hasFailed = false; !isStopping(); ) {
    try {
      const answer = await send('/developers/callbacks/next', { method: 'POST' });
      if (!hasFailed && answer.status >= 400) print(`the platform answered ${answer.status}, trying again`);
      hasFailed = answer.status >= 400;
      if (answer.status === 200) void pass(JSON.parse(await answer.text()), options, send);
      else if (hasFailed) await pause(pauseMs, stopping.signal);
    } catch (error) {
      if (error instanceof Refused) {
        process.stderr.write(`${error.message}\n`);
        return 1;
      }
      if (isStopping()) break;
      if (!hasFailed) print('the platform does not answer, trying again');
      hasFailed = true;
      await pause(pauseMs, stopping.signal);
    }
  }
  return 0;
}

/** Posts a callback to the local address, and reports the status. Never throws. */
async function pass({ id, headers, body }: Handed, { target }: Options, send: Send): Promise<void> {
  const request = { method: 'POST', headers, body, redirect: 'manual' } as const;
  const status = await fetch(target, { ...request, signal: AbortSignal.timeout(localMs) }).then(
    async (answer) => {
      await answer.body?.cancel().catch(() => undefined);
      return answer.status;
    },
    () => undefined,
  );
  const reported = await send(`/developers/callbacks/${id}/answer`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(status === undefined ? {} : { status }),
  }).catch(() => undefined);
  const unknown =
    reported?.ok === true ? '' : ', but the platform did not receive this status and tries again';
  print(`${headers['webhook-id'] ?? ''} ${status ?? 'no answer'}${unknown}`);
}

const print = (text: string) =>
  void process.stdout.write(`${new Date().toLocaleTimeString('en-GB', { hour12: false })} ${text}\n`);

/** Thrown if the platform refuses the client. Another attempt would fail too. */
class Refused extends Error {}

/** Signs in to the developer portal with the client credentials, and again when the session has ended. */
function createSession({ client, secret, url, realm, audience }: Options, stopping: AbortSignal): Send {
  let cookie: Promise<string> | undefined;
  const request = (address: string, init: RequestInit = {}) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(requestMs)]);
    return fetch(new URL(address, url), { redirect: 'manual', signal, ...init });
  };
  const read = async (answer: Response, name: string): Promise<string> => {
    if ([400, 401, 403, 404].includes(answer.status))
      throw new Refused(
        `The platform answered ${answer.status}. Check --client, --realm, --audience and CLIENT_SECRET, and that the client is a sandbox client`,
      );
    if (!answer.ok) throw new Error(`The platform answered ${answer.status}`);
    const body: unknown = JSON.parse(await answer.text());
    return isMembers(body) ? String(body[name]) : '';
  };
  const signIn = async (): Promise<string> => {
    const form = {
      grant_type: 'client_credentials',
      client_id: client,
      client_secret: secret,
      scope: `${audience}/.default`,
    };
    const tokenPath = `/idp/${realm}/oauth2/v2.0/token`;
    const answer = await request(tokenPath, { method: 'POST', body: new URLSearchParams(form) });
    const headers = { Authorization: `Bearer ${await read(answer, 'access_token')}` };
    const opening = await request('/developers/session', { method: 'POST', headers });
    const address = new URL(await read(opening, 'url'));
    // Opens the session at the address in --url, because the platform may state another address.
    const opened = await request(`${address.pathname}/open`, { method: 'POST', body: address.searchParams });
    const [set] = opened.headers.getSetCookie();
    if (set === undefined) throw new Error('The platform did not open a session');
    print(`listening for ${client}`);
    return set.split(';')[0] ?? '';
  };
  const signedIn = () => {
    cookie ??= signIn().catch((error: unknown) => {
      cookie = undefined;
      throw error;
    });
    return cookie;
  };

  return async (path, { headers, ...init } = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const used = signedIn();
      const sent = { Accept: 'application/json', ...Object.fromEntries(new Headers(headers)) };
      const answer = await request(path, { ...init, headers: { ...sent, Cookie: await used } });
      if (answer.status !== 401 || attempt === 2) return answer;
      // A concurrent request may already have signed in again.
      if (cookie === used) cookie = undefined;
    }
  };
}

function optionsIn(given: OptionValues): Options {
  const { client, url, 'forward-to': target, realm = 'demo', audience = 'api://clinical-launch' } = given;
  const { CLIENT_SECRET: secret } = process.env;
  if (client === undefined) throw new UsageError('--client is required');
  if (!isHttp(url)) throw new UsageError('--url must be the address of the platform');
  if (!isHttp(target)) throw new UsageError('--forward-to must be an http or https address');
  if (!secret) throw new UsageError('Set the environment variable CLIENT_SECRET to the secret of the client');
  return { client, secret, url, target, realm, audience };
}

const isHttp = (address: string | undefined): address is string =>
  /^https?:$/.test(URL.parse(address ?? '')?.protocol ?? '');
