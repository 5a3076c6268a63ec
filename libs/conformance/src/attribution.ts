import { withoutUndefined } from '@clinical-launch/contracts/schema';
import {
  claimsOf,
  type Endpoint,
  type Exchange,
  endpointOf,
  membersOf,
  type ProxiedRequest,
  parametersOf,
  tokenIn,
} from './exchange.ts';

/** The client and the launch of a request, as far as they are known. */
export type Attributed = Pick<Exchange, 'clientId' | 'launchId'>;

const maxKnown = 10_000;

/**
 * Finds the client and the launch of requests. Learns tokens, codes, launch identifiers, request URIs and
 * session cookies from the answers that issue them, so a forged token belongs to no client. Believes a stated
 * client id only at the endpoints that read it.
 */
export function createAttribution() {
  const { owners, learn } = createOwners();
  return {
    /** Returns the client and the launch of a request. */
    of(request: ProxiedRequest): Attributed {
      const parameters = parametersOf(request);
      const secrets = [
        ...['launchToken', 'code', 'refresh_token', 'launch', 'request_uri'].map((name) =>
          parameters.get(name),
        ),
        endpointOf(request) === 'revoke' ? parameters.get('token') : undefined,
        tokenIn(request),
        ...cookiesIn(request),
      ];
      const [found] = secrets.flatMap((secret) => owners.get(secret ?? '') ?? []);
      const clientId = found?.clientId ?? statedClient(request, parameters);
      return { ...found, ...withoutUndefined({ clientId }) };
    },

    /**
     * Learns the secrets in an answer. Returns the client and the launch of the exchange, as far as they are
     * known. An answer that issues a secret shows the launch by its correlation id, or by the claim `sid` of
     * its access token.
     */
    learn({ request, answer, ...exchange }: Pick<Exchange, 'request' | 'answer'> & Attributed): Attributed {
      const isUnproven =
        answer.status >= 400 && exchange.launchId === undefined && proving.has(endpointOf(request));
      const clientId = isUnproven ? undefined : exchange.clientId;
      const attributed = withoutUndefined({ clientId, launchId: exchange.launchId });
      const members = membersOf(answer.body);
      const ofLaunch = (secret: unknown, launchId: unknown) => {
        if (typeof secret !== 'string' || secret === '') return attributed;
        const launched = typeof launchId === 'string' ? { launchId, ...attributed } : attributed;
        learn(secret, launched);
        return launched;
      };
      const launchId = answer.headers['x-correlation-id'];
      switch (endpointOf(request)) {
        case 'launch-url':
          return ofLaunch(launchTokenIn(members['url']), launchId);
        case 'open':
          for (const cookie of setCookiesIn(answer.headers['set-cookie'])) learn(cookie, attributed);
          return attributed;
        case 'launches':
          // The host application sends this request, not the partner, so the launch is stored without a
          // client.
          if (typeof launchId === 'string') learn(members['launch'], { launchId });
          return attributed;
        case 'push':
          return ofLaunch(members['request_uri'], launchId);
        case 'authorize':
          return ofLaunch(queryOf(answer.headers['location'])?.get('code'), launchId);
        case 'token': {
          const token = members['access_token'];
          // The token of a client credentials grant has no sid.
          const launched = ofLaunch(token, typeof token === 'string' ? claimOf(token, 'sid') : undefined);
          learn(members['refresh_token'], launched);
          return launched;
        }
        default:
          return attributed;
      }
    },
  };
}

/** Stores the client and the launch of each secret. Forgets the oldest secrets. */
function createOwners() {
  const owners = new Map<string, Attributed>();
  const learn = (secret: unknown, attributed: Attributed) => {
    if (typeof secret === 'string' && secret !== '') setBounded(owners, secret, attributed, maxKnown);
  };
  return { owners: owners as ReadonlyMap<string, Attributed>, learn };
}

/** Sets an entry of a map. If the map then has more than `max` entries, deletes the oldest. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) break;
    map.delete(oldest);
  }
}

const authenticating: ReadonlySet<Endpoint> = new Set(['token', 'authorize', 'push', 'revoke']);

/**
 * The endpoints that authenticate the client. An error answer does not prove that the stated client sent the
 * request, unless the request contains a secret of a launch.
 */
const proving: ReadonlySet<Endpoint> = new Set(['token', 'revoke']);

/**
 * Returns the client that a request names: in the parameter `client_id`, in Basic credentials or in an
 * assertion.
 */
function statedClient(request: ProxiedRequest, parameters: URLSearchParams): string | undefined {
  if (!authenticating.has(endpointOf(request))) return undefined;
  const stated = parameters.get('client_id');
  if (stated) return stated;
  const basic = /^Basic +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (basic !== undefined) {
    const [encoded = ''] = Buffer.from(basic, 'base64').toString().split(':');
    return decodedOrUndefined(encoded);
  }
  const assertion = parameters.get('client_assertion');
  return assertion ? claimOf(assertion, 'sub') : undefined;
}

function decodedOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function claimOf(token: string, name: string): string | undefined {
  const claim = claimsOf(token)[name];
  return typeof claim === 'string' ? claim : undefined;
}

const launchTokenIn = (url: unknown) => queryOf(url)?.get('launchToken');

/** Returns the query of an address, or undefined if the value is no address. */
const queryOf = (address: unknown): URLSearchParams | undefined =>
  typeof address === 'string' ? URL.parse(address)?.searchParams : undefined;

const cookiesIn = ({ headers }: ProxiedRequest): readonly string[] =>
  (headers.cookie ?? '').split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());

const setCookiesIn = (headers: unknown): readonly string[] =>
  [headers]
    .flat()
    .flatMap((header) => /^[^=]+=([^;]+)/.exec(typeof header === 'string' ? header : '')?.[1] ?? []);
