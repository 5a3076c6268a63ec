import { type Exchange, type FaultName, membersOf } from '@clinical-launch/conformance/exchange';
import { pmsProtocol } from '@clinical-launch/conformance/pms';
import { addBounded, type RecordedExchange, recordedExchangeOf } from '@clinical-launch/conformance/recorder';
import { withoutUndefined } from '@clinical-launch/contracts/schema';

const maxRequests = 100;
const maxOthers = 20;

/** A request of a sandbox client and its answer, without bodies, secrets and patient data. */
export type RecordedRequest = Omit<RecordedExchange, 'sender'> & {
  readonly durationMs: number;
  readonly fault?: FaultName;
  readonly code?: string;
  readonly findings: readonly string[];
};

export type RecordedRequests = ReturnType<typeof createRecordedRequests>;

/**
 * Stores the last 100 requests of each client, in memory, and the last 20 requests at its address that it is
 * not proven to have sent.
 */
export function createRecordedRequests() {
  const ofClients = new Map<string, Readonly<Record<'requests' | 'others', RecordedRequest[]>>>();
  return {
    /** Returns the requests of a client and the other requests at its address, newest first. */
    of(clientId: string): Readonly<Record<'requests' | 'others', readonly RecordedRequest[]>> {
      const { requests, others } = ofClients.get(clientId) ?? { requests: [], others: [] };
      return { requests: requests.toReversed(), others: others.toReversed() };
    },

    /** Records an exchange at the address of a client. */
    add(clientId: string, exchange: Exchange): void {
      const lists = ofClients.get(clientId) ?? { requests: [], others: [] };
      ofClients.set(clientId, lists);
      const isProven = exchange.clientId === clientId;
      const [list, max] = isProven ? [lists.requests, maxRequests] : [lists.others, maxOthers];
      addBounded(list, recordedRequestOf(exchange), max);
    },
  };
}

function recordedRequestOf(exchange: Exchange): RecordedRequest {
  const { request, answer, answeredAt, fault } = exchange;
  const code = answer.headers['launch-refusal'] ?? membersOf(answer.body)['error'];
  const isRefused = answer.status >= 400 && typeof code === 'string' && /^[a-z_]{1,50}$/.test(code);
  const { sender: _client, ...recorded } = recordedExchangeOf(exchange, { sender: '', isPrivate: true });
  return {
    ...recorded,
    durationMs: answeredAt - request.at,
    findings: findingsOf(exchange),
    ...withoutUndefined({ fault, code: isRefused ? code : undefined }),
  };
}

// The sentences of an answer never contain a value of the request.
function findingsOf(exchange: Exchange): readonly string[] {
  const { answer } = exchange;
  const {
    title,
    error_description: description,
    errors,
  } = answer.status >= 400 ? membersOf(answer.body) : {};
  const faults = Array.isArray(errors) ? errors.map(({ path, message }) => `${path} ${message}`) : [];
  const broken = pmsProtocol.requirements.flatMap(({ judge }) => {
    const judgement = judge?.([exchange]);
    return judgement?.verdict === 'failed' ? judgement.finding : [];
  });
  return [title, description, ...faults, ...broken].filter((text) => typeof text === 'string');
}
