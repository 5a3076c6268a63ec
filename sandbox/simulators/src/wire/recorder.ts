import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@clinical-launch/runtime/clock';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { messageText } from './message-text.ts';

/** The names of query parameters and form fields with secret values. */
const secretParameters = [
  'access_token',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'codeVerifier',
  'launch',
  'launchToken',
  'refresh_token',
  'request_uri',
  'token',
].join('|');

/** Patterns of the secrets in an HTTP message. The second group matches the secret. */
const secrets = [
  new RegExp(`(\\b(?:${secretParameters})=)([^&\\s"'<>]+)`, 'g'),
  /("(?:access_token|id_token|launch|refresh_token)":\s*")([^"]+)/g,
  /^(Authorization: \w+ )(\S+)/gim,
  /^(Set-Cookie: [^=]+=)([^;\n]+)/gim,
];

const shortened = (secret: string): string =>
  `${secret.slice(0, Math.min(8, secret.length / 2))}… (${secret.length} characters)`;

/** Returns an HTTP message, as `messageText` writes it, with only the beginning of each secret. */
function shortenSecrets(message: string): string {
  const withCookies = message.replace(/^(Cookie: )(.+)$/gim, (_line, name: string, pairs: string) =>
    name.concat(pairs.replace(/=([^;]+)/g, (_pair, value: string) => `=${shortened(value)}`)),
  );
  return secrets.reduce(
    (text, pattern) =>
      text.replace(pattern, (_match, name: string, secret: string) => name + shortened(secret)),
    withCookies,
  );
}

/** A decoded token of an answer. Only the signature of a token is secret. */
type DecodedToken = { readonly name: string; readonly text: string };

/** A request and its answer, with shortened secrets. */
export type RecordedExchange = {
  readonly title: string;
  /** The application or browser that sent the request. */
  readonly sender: string;
  /** The time of the request, in milliseconds since 1970. */
  readonly at: number;
  readonly line: string;
  readonly request: string;
  /** Absent if only the browser saw the answer. */
  readonly answer?: {
    readonly status: number;
    readonly text: string;
    readonly tokens: readonly DecodedToken[];
  };
  /** The correlation id of the exchange in the audit trail. */
  readonly reference?: string;
  readonly note?: string;
};

/**
 * The title of each recorded request, by method and path. Requests for other pages and files are not
 * recorded.
 */
const titles: readonly (readonly [line: RegExp, title: string])[] = [
  [/\/token$/, 'Token request'],
  [/\/RequestLaunchUrl$/, 'Request for the launch URL'],
  [/\/secureLaunch$/, 'Opening of the launch'],
  [/^POST .*\/review$/, 'Submission of the order'],
  [/\/notepad$/, 'Order document'],
  [/\/pms\/documents$/, 'Order document, by the message to the page'],
  [/\/pms\/callbacks$/, 'Order document, by callback'],
  [/\/desktop\/launches$/, 'Request for the launch identifier'],
  [/\/openid-configuration$/, 'Discovery'],
  [/\/keys$/, 'Public keys of the issuer'],
  [/\/partner\/launch$/, 'Launch handler'],
  [/\/authorize$/, 'Authorization request'],
  [/\/partner\/callback$/, 'Auth handler'],
  [/\/resource\/me$/, 'Resource: the user'],
  [/\/resource\/patient$/, 'Resource: the patient'],
];

/** Matches requests that cause no event in the audit trail. */
const withoutEvent = /\/(?:openid-configuration|keys)$/;

/** The maximum number of recorded exchanges. A launch with all its attempts has fewer. */
const maxExchanges = 40;

type Message = { readonly headers: Iterable<readonly [name: string, value: string]>; readonly body: string };
type Sent = Pick<RecordedExchange, 'sender' | 'note' | 'reference'> &
  Message & { readonly method: string; readonly url: URL; readonly at: number };
type Answered = Message & { readonly status: number };

/**
 * Data about a received request that the request itself does not contain. `reference` is empty if the request
 * belongs to no launch.
 */
type Received = Pick<Sent, 'sender'> & { reference: string; body?: string; status: number };
type Unseen = { address: string; form?: Readonly<Record<string, string>>; reference: string };

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Creates a recorder of the requests that the simulators send and receive. Adds each request, with shortened
 * secrets, to the list that a caller passes.
 */
export function createRecorder(clock: Clock) {
  const current = new AsyncLocalStorage<RecordedExchange[]>();
  return {
    /** Runs the work, and adds every request that it sends through `fetchAs` to the list. */
    into: <Result>(list: RecordedExchange[], work: () => Promise<Result>): Promise<Result> =>
      current.run(list, work),

    /** Returns a `fetch` that records its requests with this sender. */
    fetchAs:
      (sender: string): typeof fetch =>
      async (input, init) => {
        const list = current.getStore();
        if (list === undefined) return fetch(input, init);
        const request = new Request(input, init);
        const { method } = request;
        const url = new URL(request.url);
        const sent = { body: await request.clone().text(), at: clock.now() };
        const response = await fetch(request);
        const { status, headers } = response;
        const reference = headers.get('x-correlation-id') ?? '';
        add(
          list,
          { ...sent, sender, method, url, headers: [['Host', url.host], ...request.headers], reference },
          { status, headers, body: await response.clone().text() },
        );
        return response;
      },

    /** Records a request that a simulator received, and the status of its answer. */
    received(list: RecordedExchange[], request: IncomingMessage, known: Received): void {
      const { method = '', url: target = '', rawHeaders: raw } = request;
      const headers = raw.flatMap((name, index) =>
        index % 2 ? [] : [[name, raw[index + 1] ?? ''] as const],
      );
      const url = new URL(target, 'http://received');
      const { status, body = '', ...rest } = known;
      const answered = { status, headers: [['X-Correlation-Id', known.reference]] as const, body: '' };
      add(list, { ...rest, body, method, url, headers, at: clock.now() }, answered);
    },

    /** Records a request that a redirect or a form makes the browser send. No simulator sees the answer. */
    unseen(list: RecordedExchange[], { address, form, reference }: Unseen): void {
      add(list, {
        sender: 'Browser',
        note: 'Only your browser sees the answer.',
        method: form === undefined ? 'GET' : 'POST',
        url: new URL(address),
        headers: form === undefined ? [] : [['Content-Type', 'application/x-www-form-urlencoded']],
        body: form === undefined ? '' : new URLSearchParams(form).toString(),
        at: clock.now(),
        reference,
      });
    },
  };
}

function add(
  list: RecordedExchange[],
  { method, url, headers, body, reference = '', ...rest }: Sent,
  answered?: Answered,
): void {
  const line = `${method} ${url.pathname}`;
  const title = titles.find(([pattern]) => pattern.test(line))?.[1];
  if (title === undefined || list.length >= maxExchanges) return;
  list.push({
    ...rest,
    title,
    line,
    request: shortenSecrets(messageText(line + url.search, headers, body)),
    ...(answered === undefined ? {} : { answer: answerOf(answered) }),
    ...(reference === '' || withoutEvent.test(line) ? {} : { reference }),
  });
}

function answerOf({ status, headers, body }: Answered) {
  return {
    status,
    text: shortenSecrets(messageText(`HTTP/1.1 ${status}`, headers, body)),
    tokens: decodedTokens(body),
  };
}

/** Shortens the encrypted launch context, which is for the resource API. */
const withoutEncrypted = (name: string, value: unknown) =>
  name === 'launch_context' && typeof value === 'string' ? shortened(value) : value;

const tokenForm = /"([a-z_]+)":\s*"(ey[\w-]+\.ey[\w-]+\.([\w-]+))"/g;

/**
 * Returns the header and the claims of each signed token in a JSON answer, and the beginning of its
 * signature.
 */
function decodedTokens(body: string): DecodedToken[] {
  return [...body.matchAll(tokenForm)].map(([, name = '', token = '', signature = '']) => {
    const parts = [decodeProtectedHeader(token), decodeJwt(token)].map((part) =>
      JSON.stringify(part, withoutEncrypted, 2),
    );
    return { name, text: [...parts, `${signature.slice(0, 8)}… (signature)`].join('\n.\n') };
  });
}

/**
 * Returns a function that adds the latest token request to the exchanges of a launch. The client caches its
 * access token, so most launches send no token request.
 */
export function rememberToken() {
  let last: RecordedExchange | undefined;
  return (sent: RecordedExchange[]): RecordedExchange[] => {
    const own = sent.find(({ line }) => line.endsWith('/token'));
    if (own === undefined && last !== undefined)
      return [{ ...last, note: 'Sent for an earlier launch: the token is used until it expires.' }, ...sent];
    last = own;
    return sent;
  };
}
