import { randomUUID } from 'node:crypto';
import {
  createForeignSecret,
  oldSeconds,
  sampleCallbackBody,
} from '@clinical-launch/conformance/pms-callbacks';
import type { Receiver } from '@clinical-launch/conformance/runs';
import { openCallbackSecrets, signatureHeaders } from '@clinical-launch/crypto/webhook-signature';
import { ServiceError } from '@clinical-launch/http/errors';
import { OutboundError } from '@clinical-launch/http/outbound-error';
import { createOutboundFetch, type OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { type Attempt, type Callback, type Message, type TestKind } from '../domain/callbacks.ts';
import type { SandboxClient } from '../domain/sandbox-clients.ts';
import type { Developers } from './portal.ts';

/** The time limit of a receiver's answer in milliseconds. */
const answerMs = 10_000;

export type Forwarding = ReturnType<typeof createForwarding>;

/**
 * Creates the functions that send callbacks to the receiver of a client. The receiver is the address
 * that the developer entered.
 */
export function createForwarding({ config, clock, sealers, callbacks }: Developers) {
  const fetchOutbound = createOutboundFetch({ allowedNetworks: config.allowedNetworks, timeoutMs: answerMs });
  const pathOf = (clientId: string) => `/developers/callbacks/${encodeURIComponent(clientId)}`;

  /** Returns the address that the operator must register as the callback of a client. */
  const registeredAddress = ({ clientId }: SandboxClient) => config.publicUrl + pathOf(clientId);

  /** Returns the unexpired secrets of a client's callback, or none if it has no callback. */
  const secretsOf = ({ policy: { callback } }: SandboxClient) =>
    callback === undefined ? [] : openCallbackSecrets(callback, sealers.callback, clock.now());

  const attempt = async (clientId: string, message: Message): Promise<Partial<Attempt>> => {
    const address = callbacks.addressOf(clientId);
    return address === undefined ? {} : post(fetchOutbound, address, message);
  };

  /** Sends a callback unchanged to the receiver of its client, and records the attempt. */
  const forward = async ({ clientId }: SandboxClient, callback: Callback, headers: Message['headers']) => {
    const made = { at: clock.now(), ...(await attempt(clientId, { headers, body: callback.body })) };
    callbacks.record(clientId, callback, made);
    return made;
  };

  /** Signs a callback again, and forwards it. @throws ServiceError 400 if the client has no secret */
  const send = (client: SandboxClient, callback: Callback) => {
    const own = secretsOf(client);
    if (own.length === 0)
      throw new ServiceError({
        code: 'invalid_request',
        message: `No callback is registered for this client. Ask the operator to register ${registeredAddress(client)}`,
      });
    const secrets = callback.kind === 'wrong-signature' ? [createForeignSecret()] : own;
    const now = clock.now() - (callback.kind === 'old' ? oldSeconds * 1000 : 0);
    const signature = signatureHeaders({ ...callback, now, secrets });
    return forward(client, callback, { 'content-type': 'application/json', ...signature });
  };

  return {
    registeredAddress,
    secretsOf,
    forward,
    send,

    /** Returns true if the callbacks or logout tokens of a client are registered at its address here. */
    isRegistered: ({ clientId, policy: { callback, backchannelLogoutUri } }: SandboxClient) =>
      [callback?.url, backchannelLogoutUri].some(
        (address) => URL.parse(address ?? '')?.pathname === pathOf(clientId),
      ),

    /** Returns true if a message to the client has a receiver now. */
    hasReceiver: ({ clientId }: SandboxClient) => callbacks.addressOf(clientId) !== undefined,

    /** Sends a test callback. @throws ServiceError 400 if the client has no secret */
    async sendTest(client: SandboxClient, kind: TestKind): Promise<void> {
      const callback = { id: randomUUID(), kind, body: sampleCallbackBody(randomUUID(), clock.now()) };
      await send(client, callback);
      if (kind === 'duplicate') await send(client, callback);
    },
  };
}

/** Returns the function that finds the receiver of the messages to a client, for its conformance runs. */
export const createReceivers =
  ({ clients }: Developers, { registeredAddress, isRegistered, secretsOf, forward }: Forwarding) =>
  (clientId: string): Receiver | undefined => {
    const client = clients().get(clientId);
    if (client === undefined || !isRegistered(client)) return undefined;
    return {
      address: registeredAddress(client),
      secret: secretsOf(client)[0],
      async post({ headers, body, probe }) {
        // A logout token has no `webhook-id`.
        const id = headers['webhook-id'] ?? randomUUID();
        const kind = probe === undefined ? 'delivery' : 'run';
        return (await forward(client, { id, kind, body }, headers)).status ?? 0;
      },
    };
  };

async function post(
  fetchOutbound: OutboundFetch,
  receiver: string,
  { headers, body }: Message,
): Promise<Partial<Attempt>> {
  try {
    const request = { method: 'POST', headers, body, ignoresBody: true } as const;
    const { status } = await fetchOutbound(new URL(receiver), request);
    // The portal answers the platform with this status, so it must be a final status (RFC 9110 section 15).
    return status >= 200 && status <= 599 ? { receiver, status } : { receiver };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { code } = error;
    const isRefused = code === 'address_refused' || code === 'insecure_address';
    return isRefused ? { receiver, refusal: code } : { receiver };
  }
}
