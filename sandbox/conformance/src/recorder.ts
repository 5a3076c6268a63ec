import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Clock } from '@clinical-launch/runtime/clock';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { type Exchange, endpointOf, type ProxiedAnswer, type ProxiedRequest } from './exchange.ts';

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

/** A request and its answer as texts without secrets. */
export type RecordedExchange = {
  /** Empty for the pages and files around a launch. */
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

/** The title of each known request, by method and path. */
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

type Known = {
  readonly sender: string;
  readonly note?: string;
  /** By default, the correlation id in the answer. */
  readonly reference?: string;
  /** Removes bodies, and values that may contain secrets or patient data, because the client may be real. */
  readonly isPrivate?: boolean;
};

/** Returns what is recorded of an exchange. Without `isPrivate`, it contains bodies and shortened secrets. */
export function recordedExchangeOf(
  { request, answer }: Pick<Exchange, 'request'> & { readonly answer?: ProxiedAnswer },
  { isPrivate = false, ...known }: Known,
): RecordedExchange {
  const { url, method, at } = request;
  const line = isPrivate ? knownLineOf(request, answer) : `${method} ${url.pathname}`;
  const textOf = (start: string, { headers, body }: Pick<ProxiedAnswer, 'headers'> & { body: unknown }) =>
    isPrivate
      ? messageText(start, fieldsOf(headers).map(withoutValue), '')
      : shortenSecrets(messageText(start, fieldsOf(headers), String(body)));
  const reference = known.reference ?? String(answer?.headers['x-correlation-id'] ?? '');
  return {
    sender: known.sender,
    title: titles.find(([pattern]) => pattern.test(line))?.[1] ?? '',
    at,
    line,
    request: textOf(line + (isPrivate ? knownSearchOf(url) : url.search), request),
    ...withoutUndefined({
      note: known.note,
      answer: answer && {
        status: answer.status,
        text: textOf(`HTTP/1.1 ${answer.status}`, answer),
        tokens: isPrivate ? [] : decodedTokens(answer.body.toString()),
      },
      reference: reference === '' || withoutEvent.test(line) ? undefined : reference,
    }),
  };
}

/** Returns true if a request has a known path, which contains no other values than those that are masked. */
export const isKnown = (request: ProxiedRequest): boolean =>
  endpointOf(request) !== 'other' || request.url.pathname === '/AccessApi/Validate';

/**
 * Returns the method and the path without launch identifiers and the ids of resources. Returns a fixed text
 * for an unknown path, which may contain secrets or patient data.
 */
function knownLineOf(request: ProxiedRequest, answer?: ProxiedAnswer): string {
  const { method, url } = request;
  const path =
    isKnown(request) && answer?.status !== 404
      ? url.pathname.replace(/\/(resource|launches|Patient|Practitioner|Organization)\/.*/, '/$1/*')
      : 'an unknown address';
  return `${/^[A-Z]{3,7}$/.test(method) ? method : 'other'} ${path}`;
}

const knownParameters = new Set(['launchToken', 'codeVerifier', 'client_id', 'grant_type', 'scope']);

function knownSearchOf({ searchParams }: URL): string {
  const known = [...new Set(searchParams.keys())].filter((name) => knownParameters.has(name));
  return known.length === 0 ? '' : `?${known.map((name) => `${name}=…`).join('&')}`;
}

/** The headers whose values are shown: the platform sets them, or they have a small set of values. */
const shownHeaders = new Set([
  'accept',
  'allow',
  'cache-control',
  'code-challenge-method',
  'content-length',
  'content-type',
  'launch-refusal',
  'retry-after',
  'www-authenticate',
  'x-correlation-id',
]);

type Field = readonly [name: string, value: string];

const fieldsOf = (headers: ProxiedAnswer['headers']): readonly Field[] =>
  Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, String(value)] as const),
  );

/** Masks the value of a header that is not in `shownHeaders`, except the scheme of an Authorization header. */
function withoutValue([name, value]: Field): Field {
  if (shownHeaders.has(name)) return [name, value.slice(0, 300)];
  const scheme = name === 'authorization' ? /^(?:Bearer|Basic|DPoP)(?= )/i.exec(value)?.[0] : undefined;
  return [name, scheme === undefined ? '(not shown)' : `${scheme} (not shown)`];
}

/** The maximum number of shown characters. Longer bodies are HTML pages, which the browser shows better. */
const maxBodyLength = 8000;

/** Returns an HTTP message as text: JSON with line breaks, and a form with one field per line. */
function messageText(start: string, headers: readonly Field[], body: string): string {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const lines = [start, ...headers.map(([name, value]) => `${spelled(name)}: ${value}`)];
  return body === '' ? lines.join('\n') : `${lines.join('\n')}\n\n${cut(shownBody(type, body))}`;
}

/** Capitalises the name of a header, because Node and `fetch` report names in lower case. */
const spelled = (name: string) => name.replace(/(?<![A-Za-z])[a-z]/g, (letter) => letter.toUpperCase());

function shownBody(type: string, body: string): string {
  if (/\bjson\b/.test(type)) return indented(body);
  if (!type.startsWith('application/x-www-form-urlencoded')) return body;
  return [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`).join('\n');
}

/** Returns JSON with line breaks, and any other text unchanged. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const cut = (text: string) =>
  text.length <= maxBodyLength
    ? text
    : `${text.slice(0, maxBodyLength)}\n… ${text.length - maxBodyLength} characters more`;

/** Shortens the encrypted launch context, which is for the resource API. */
const withoutEncrypted = (name: string, value: unknown) =>
  name === 'launch_context' && typeof value === 'string' ? shortened(value) : value;

const tokenForm = /"([a-z_]+)":\s*"(ey[\w-]+\.ey[\w-]+\.([\w-]+))"/g;

function decodedTokens(body: string): DecodedToken[] {
  return [...body.matchAll(tokenForm)].map(([, name = '', token = '', signature = '']) => {
    const parts = [decodeProtectedHeader(token), decodeJwt(token)].map((part) =>
      JSON.stringify(part, withoutEncrypted, 2),
    );
    return { name, text: [...parts, `${signature.slice(0, 8)}… (signature)`].join('\n.\n') };
  });
}

/** A map that removes its oldest entry when it is full, because a process may run for a long time. */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #max: number;

  constructor(max = 200) {
    super();
    this.#max = max;
  }

  override set(key: string, value: Value): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#max && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

/** Adds a value to a list. If the list then has more than `max` values, removes the oldest. */
export function addBounded<Value>(list: Value[], value: Value, max: number): void {
  list.push(value);
  if (list.length > max) list.splice(0, list.length - max);
}

/** The maximum number of recorded exchanges of a launch. A launch with all its attempts has fewer. */
const maxExchanges = 40;

function add(list: RecordedExchange[], ...recorded: Parameters<typeof recordedExchangeOf>): void {
  const exchange = recordedExchangeOf(...recorded);
  if (exchange.title !== '') addBounded(list, exchange, maxExchanges);
}

/** What a request does not contain itself. `reference` is empty if the request belongs to no launch. */
type Received = { sender: string; reference: string; body?: string; status: number };
type Unseen = { address: string; form?: Readonly<Record<string, string>>; reference: string };

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Creates a recorder of the requests that applications send and receive. Adds each known request to the list
 * that a caller passes.
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
        const sent = new Request(input, init);
        const url = new URL(sent.url);
        const headers = { host: url.host, ...Object.fromEntries(sent.headers) };
        const body = await sent.clone().text();
        const request = { method: sent.method, url, headers, body, at: clock.now() };
        const response = await fetch(sent);
        const answer = {
          status: response.status,
          headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
          body: Buffer.from(await response.clone().text()),
        };
        add(list, { request, answer }, { sender });
        return response;
      },

    /** Records a request that a simulator received, and the status of its answer. */
    received(list: RecordedExchange[], incoming: IncomingMessage, known: Received): void {
      const { method = '', url = '', headers } = incoming;
      const { status, body = '', reference, sender } = known;
      const request = { method, url: new URL(url, 'http://received'), headers, body, at: clock.now() };
      const answer = { status, headers: { 'x-correlation-id': reference }, body: Buffer.alloc(0) };
      add(list, { request, answer }, { sender });
    },

    /** Records a request that a redirect or a form makes the browser send. No simulator sees the answer. */
    unseen(list: RecordedExchange[], { address, form, reference }: Unseen): void {
      const request = {
        method: form === undefined ? 'GET' : 'POST',
        url: new URL(address),
        headers: form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' },
        body: form === undefined ? '' : new URLSearchParams(form).toString(),
        at: clock.now(),
      };
      add(list, { request }, { sender: 'Browser', note: 'Only your browser sees the answer.', reference });
    },
  };
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
