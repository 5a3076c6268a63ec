import { randomBytes, randomUUID } from 'node:crypto';
import { defaultXmlNamespace } from '@clinical-launch/contracts/namespaces';
import { callbackBody } from '@clinical-launch/contracts/order/callback';
import type { Order } from '@clinical-launch/contracts/order/order';
import { renderOrderDocument } from '@clinical-launch/contracts/order/order-document';
import { signatureHeaders } from '@clinical-launch/crypto/webhook-signature';
import type { Exchange } from './exchange.ts';
import { answered, isAccepted } from './judges.ts';
import { failed, type Judgement, passed, type Requirement, type StepTools, waiting } from './requirement.ts';

/** The age in seconds of a callback that is too old. A receiver accepts at most five minutes. */
export const oldSeconds = 660;
/** The maximum time to answer a callback, in milliseconds. */
const maxAnswerMs = 5000;

/**
 * Sends five callbacks one after the other: a valid callback, the same callback again, one that is signed
 * with another secret, one with a valid signature but an old time, and one with two signatures, of which only
 * the second is signed with the secret of the client.
 */
export async function sendCallbacks(
  { send, callbackSecret = '', now }: StepTools,
  exchanges: readonly Exchange[],
): Promise<undefined> {
  const launchId = exchanges.findLast((one) => one.launchId !== undefined)?.launchId ?? randomUUID();
  const foreign = createForeignSecret();
  const first = { id: randomUUID(), body: sampleCallbackBody(launchId, now()) };
  const post = (
    probe: string,
    message: { readonly id: string; readonly body: string },
    {
      secrets = [callbackSecret],
      at = now(),
    }: { readonly secrets?: readonly string[]; readonly at?: number } = {},
  ) =>
    send({
      probe,
      body: message.body,
      headers: { 'content-type': 'application/json', ...signatureHeaders({ ...message, now: at, secrets }) },
    });
  const another = () => ({ id: randomUUID(), body: sampleCallbackBody(launchId, now()) });

  await post('valid', first);
  await post('duplicate', first);
  await post('foreign-signature', another(), { secrets: [foreign] });
  await post('old', another(), { at: now() - oldSeconds * 1000 });
  await post('two-signatures', another(), { secrets: [foreign, callbackSecret] });
}

/** Returns the headers of a callback that its receiver needs: the media type and the signature. */
export const callbackHeaders = (headers: NodeJS.Dict<string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name === 'content-type' || name.startsWith('webhook-'))
      .map(([name, value]) => [name, String(value)]),
  );

/**
 * Returns true for 4xx. A 5xx is not a refusal, because the client may have failed before it checked the
 * callback.
 */
const isRefused = (status: number) => status >= 400 && status < 500;

const section = 'pms.md#receive-it-by-callback';

/** The requirements for callbacks. They apply to clients with a callback address. */
export const judgeCallbacks: readonly Requirement[] = [
  {
    id: 'pms.result-read',
    title: 'The client accepts the order document by callback',
    guide: section,
    needs: 'callback',
    judge: answered('valid', isAccepted, 'A valid callback was not accepted'),
  },
  {
    id: 'pms.callback-duplicate',
    title: 'The client accepts a callback that arrives twice',
    guide: section,
    needs: 'callback',
    judge: answered('duplicate', isAccepted, 'The second delivery of a callback was not accepted'),
  },
  {
    id: 'pms.callback-signature',
    title: 'The client refuses a callback whose signature is wrong',
    guide: section,
    needs: 'callback',
    judge: answered('foreign-signature', isRefused, 'A callback with a wrong signature was not refused'),
  },
  {
    id: 'pms.callback-time',
    title: 'The client refuses a callback whose timestamp is older than five minutes',
    guide: section,
    needs: 'callback',
    judge: answered('old', isRefused, 'A callback with an old timestamp was not refused'),
  },
  {
    id: 'pms.callback-rotation',
    title: 'The client accepts a callback if one of two signatures is valid',
    guide: section,
    needs: 'callback',
    judge: answered('two-signatures', isAccepted, 'A callback with two signatures was not accepted'),
  },
  {
    id: 'pms.callback-in-time',
    title: 'The client answers each callback within five seconds',
    guide: section,
    needs: 'callback',
    judge: judgeTimes,
  },
  {
    id: 'pms.callback-filed-once',
    title: 'The client stores the document of a repeated callback once',
    guide: section,
    needs: 'callback',
  },
];

function judgeTimes(exchanges: readonly Exchange[]): Judgement {
  const sent = exchanges.filter(({ direction }) => direction === 'sent');
  if (sent.some(({ answer }) => answer.status === 0)) return failed('A callback was not answered');
  const late = sent.find(({ request, answeredAt }) => answeredAt - request.at > maxAnswerMs);
  if (late !== undefined) return failed('A callback was answered after more than five seconds');
  return sent.length > 0 ? passed : waiting;
}

/** Returns a new secret, `whsec_...`, that belongs to no client. */
export const createForeignSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Returns the body of a callback with a new order document of a synthetic patient.
 * @param now milliseconds since 1970
 */
export function sampleCallbackBody(launchId: string, now: number): string {
  const renderedAt = new Date(now);
  const order = sampleOrder(renderedAt.toISOString());
  const messageId = randomUUID();
  const xml = renderOrderDocument(order, {
    messageId,
    xmlNamespace: defaultXmlNamespace,
    timeZone: 'Europe/London',
    system: { name: 'Clinical Launch', version: '1.0.0' },
  });
  return callbackBody({ orderGuid: order.guid, orderVersion: 1, launchId, messageId, renderedAt, xml });
}

function sampleOrder(at: string): Order {
  const laboratory = 'North Coast Pathology';
  return {
    guid: randomUUID(),
    patient: {
      name: { family: 'Whitfield', given: ['Margaret'] },
      birthDate: '1958-02-28',
      gender: 'female',
      address: { lines: ['4 Harbour Row'] },
      telecom: [],
      identifiers: [{ system: 'nhs-number', value: '9990000018' }],
    },
    requester: {
      name: { family: 'Bairstow', given: ['Thomas'] },
      identifier: { system: 'professional-code', value: 'G8134567' },
    },
    practice: { name: 'Harbour Surgery', identifier: { system: 'ods-organization-code', value: 'B82017' } },
    performer: { name: laboratory, identifier: { system: 'performing-org', value: 'RCB00' } },
    authoredOn: at,
    batches: [
      {
        id: 'B1',
        guid: randomUUID(),
        orderReference: 'CL-0-1',
        provider: { name: laboratory, code: { value: 'RCB00', scheme: 'LOCAL' } },
        category: 'Blood Sciences',
        status: 'R',
        statusAt: at,
        samples: [{ id: 'S1', description: 'EDTA blood' }],
        tests: [
          {
            id: 'T1',
            sample: 'S1',
            description: 'Full blood count',
            code: { value: 'FBC', scheme: 'LOCAL', term: 'Full blood count' },
            status: 'R',
            statusAt: at,
          },
        ],
      },
    ],
  };
}
