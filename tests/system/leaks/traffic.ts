import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** A request of `fetch`, as undici reports it. */
type FetchRequest = { readonly path: string; readonly headers: readonly string[] };
type Headers = { readonly request: FetchRequest; readonly response: { readonly headers: readonly Buffer[] } };
type Chunk = { readonly request: FetchRequest; readonly chunk: Uint8Array };

/** The traffic that the clients of a run sent and received. */
export type Traffic = {
  /** The URLs of the requests, without the secrets that the protocols put in them. */
  readonly urls: readonly string[];
  /** The tokens, verifiers, codes, identifiers and cookies of the requests and answers. */
  readonly secrets: ReadonlySet<string>;
  stop(): void;
};

/** Names of form fields, query parameters and JSON members with secret values. */
const secretNames =
  `launchToken codeVerifier launch code code_verifier client_secret access_token refresh_token
  id_token request_uri launchUrl url`.split(/\s+/);
const secretMember = new RegExp(`"(?:${secretNames.join('|')})":"([^"]+)"`, 'g');

/** Records the `fetch` requests of this process until `stop` is called. */
export function recordTraffic(): Traffic {
  const urls: string[] = [];
  const secrets = new Set<string>();
  const note = (text: string) => {
    for (const part of randomPartsOf(text)) secrets.add(part);
  };
  const noteParameters = (parameters: URLSearchParams) => {
    for (const name of secretNames) for (const value of parameters.getAll(name)) note(value);
  };
  const listeners: Readonly<Record<string, (message: never) => void>> = {
    'undici:request:create': ({ request: { path, headers } }: { request: FetchRequest }) => {
      const query = new URLSearchParams(path.split('?').slice(1).join('?'));
      noteParameters(query);
      urls.push(withoutSecrets(path, query));
      for (const [at, name] of headers.entries()) {
        if (at % 2 === 0 && /^(?:authorization|cookie)$/i.test(name)) note(headers[at + 1] ?? '');
      }
    },
    'undici:request:bodyChunkSent': ({ chunk }: Chunk) =>
      noteParameters(new URLSearchParams(Buffer.from(chunk).toString())),
    'undici:request:headers': ({ response: { headers } }: Headers) => {
      for (const [at, name] of headers.entries()) {
        const value = headers[at + 1]?.toString() ?? '';
        if (at % 2 === 0 && /^set-cookie$/i.test(name.toString())) note(value.split(';')[0] ?? '');
        if (at % 2 === 0 && /^location$/i.test(name.toString())) note(value);
      }
    },
    'undici:request:bodyChunkReceived': ({ chunk }: Chunk) => {
      for (const [, value = ''] of Buffer.from(chunk).toString().matchAll(secretMember)) note(value);
    },
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener as () => void);
  return {
    urls,
    secrets,
    stop() {
      for (const [channel, listener] of Object.entries(listeners))
        unsubscribe(channel, listener as () => void);
    },
  };
}

/**
 * Returns the parts that are long enough to be random, such as the payload and signature of a JWT. Excludes
 * JWT headers, and GUIDs, which logs and events contain.
 */
function randomPartsOf(text: string): string[] {
  return (text.match(/[\w-]{30,}/g) ?? []).filter(
    (part) => !/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(part) && !part.startsWith('eyJhbGci'),
  );
}

/**
 * Removes the secrets that the specifications put in the URLs of opening, authorizing and ending a launch.
 */
function withoutSecrets(path: string, query: URLSearchParams): string {
  const [address = ''] = path.split('?');
  const rest = [...query]
    .filter(([name]) => !secretNames.includes(name))
    .map(([name, value]) => `${name}=${value}`);
  return `${address.replace(/(?<=\/launches\/)[\w-]+$/, '')}?${rest.join('&')}`;
}
