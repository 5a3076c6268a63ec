import { withoutUndefined } from '@clinical-launch/contracts/schema';
import {
  claimsOf,
  type Exchange,
  endpointOf,
  membersOf,
  type ProxiedRequest,
  parametersOf,
  tokenIn,
} from './exchange.ts';
import { BoundedMap } from './recorder.ts';

/**
 * The client that is proven to have sent a request, and the launch of the request, as far as they are known.
 */
export type Attributed = Pick<Exchange, 'clientId' | 'launchId'>;

const maxKnown = 10_000;

export type Attribution = ReturnType<typeof createAttribution>;

/**
 * Finds the client and the launch of requests by proof: by a secret that the platform issued to the client, or
 * by credentials that the token endpoint accepted. A stated client id and a Referer prove nothing. Learns
 * tokens, codes, launch identifiers, request URIs and session cookies from the answers that issue them.
 * @param clientOf returns the client of a valid access token. With it, tokens need not be learned first
 */
export function createAttribution(clientOf?: (authorization: string) => Promise<string | undefined>) {
  const owners = new BoundedMap<Attributed>(maxKnown);
  const assign = (secret: unknown, attributed: Attributed) => {
    if (typeof secret === 'string' && secret !== '' && attributed.clientId !== undefined)
      owners.set(secret, attributed);
  };
  return {
    /** Stores the client and the launch of a secret. Ignores a value that is no text, and other clients. */
    assign,

    /** Returns the client and the launch of a request. The body is empty while it is unread. */
    async of(request: ProxiedRequest): Promise<Attributed> {
      const { authorization } = request.headers;
      const secrets = [...secretsIn(request), clientOf === undefined ? tokenIn(request) : undefined];
      const [found] = secrets.flatMap((secret) => owners.get(secret ?? '') ?? []);
      if (found !== undefined || clientOf === undefined || authorization === undefined) return found ?? {};
      return withoutUndefined({ clientId: await clientOf(authorization) });
    },

    /**
     * Learns the secrets in an answer. Returns the client and the launch of the exchange, as far as they are
     * known. An answer that issues a secret shows the launch by its correlation id. An access token shows the
     * launch by its claim `sid`, and the client whose credentials were accepted.
     */
    learn({ request, answer, ...proven }: Pick<Exchange, 'request' | 'answer'> & Attributed): Attributed {
      const members = membersOf(answer.body);
      const launchId = textIn(answer.headers['x-correlation-id']);
      const learnIssued = (secret: unknown, shown: Partial<Record<keyof Attributed, string | undefined>>) => {
        const attributed = { ...withoutUndefined(shown), ...proven };
        if (textIn(secret) === undefined || attributed.clientId === undefined) return proven;
        assign(secret, attributed);
        return attributed;
      };
      switch (endpointOf(request)) {
        case 'launch-url':
          return learnIssued(queryOf(members['url'])?.get('launchToken'), { launchId });
        case 'open':
          for (const cookie of setCookiesIn(answer.headers['set-cookie'])) assign(cookie, proven);
          return proven;
        case 'launches':
          // The host application sends this request, and names the partner application.
          assign(
            members['launch'],
            withoutUndefined({ launchId, clientId: textIn(membersOf(request.body)['client_id']) }),
          );
          return proven;
        case 'push':
          return learnIssued(members['request_uri'], { launchId });
        case 'authorize':
          return learnIssued(queryOf(answer.headers['location'])?.get('code'), { launchId });
        case 'token': {
          const { client_id: clientId, sid } = claimsOf(textIn(members['access_token']));
          // The token of a client credentials grant has no sid.
          const launched = learnIssued(members['access_token'], {
            clientId: textIn(clientId),
            launchId: textIn(sid),
          });
          assign(members['refresh_token'], launched);
          return launched;
        }
        default:
          return proven;
      }
    },
  };
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Returns the query of an address, or undefined if the value is no address. */
const queryOf = (address: unknown): URLSearchParams | undefined =>
  typeof address === 'string' ? URL.parse(address)?.searchParams : undefined;

function secretsIn(request: ProxiedRequest): readonly (string | null)[] {
  const parameters = parametersOf(request);
  const names = ['launchToken', 'code', 'refresh_token', 'launch', 'request_uri'];
  if (endpointOf(request) === 'revoke') names.push('token');
  return [...names.map((name) => parameters.get(name)), ...cookiesIn(request)];
}

const cookiesIn = ({ headers }: ProxiedRequest): readonly string[] =>
  (headers.cookie ?? '').split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());

const setCookiesIn = (headers: unknown): readonly string[] =>
  [headers]
    .flat()
    .flatMap((header) => /^[^=]+=([^;]+)/.exec(typeof header === 'string' ? header : '')?.[1] ?? []);
