import { isUtf8 } from 'node:buffer';
import { callbackHeaders } from '@clinical-launch/conformance/pms-callbacks';
import { sendStatus } from '@clinical-launch/http/answer';
import { readBytes } from '@clinical-launch/http/body';
import { type Endpoint, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { findSignature, isSigned } from '../domain/callbacks.ts';
import type { Forwarding } from './forward-callback.ts';
import type { Portal } from './portal.ts';

const maxCallbackBytes = 1024 * 1024;
const retryAfterSeconds = 5;

/**
 * Creates the endpoint that receives the callbacks of a sandbox client from the platform. Answers with the
 * status that the receiver answered. If no receiver answers, answers 503, so that the platform tries again.
 * If the receiver sends the callback back, answers 508, because it would be passed on without end.
 */
export function receiveCallback(portal: Portal, { secretsOf, forward }: Forwarding): Endpoint {
  const passing = new Set<string>();
  return portal.open('/developers/callbacks/:client', {
    async POST(exchange) {
      const { request, response, call } = exchange;
      const client = portal.clients().get(textParameter(exchange, 'client'));
      if (client === undefined) throw new ServiceError({ code: 'not_found', message: 'Client not found' });
      const signature = findSignature(request.headers, portal.clock.now());
      if (signature === undefined) throw unsigned();
      const bytes = await readBytes(exchange, maxCallbackBytes);
      const body = isUtf8(bytes) ? bytes.toString() : '';
      if (!isSigned(body, { ...signature, secrets: secretsOf(client) })) throw unsigned();
      const { id } = signature;
      call.identify(`callbacks of ${client.clientId}`, client.clientId);
      const callback = { id, kind: 'delivery', body } as const;
      const key = JSON.stringify([client.clientId, id]);
      if (passing.has(key)) return sendStatus(response, 508);
      passing.add(key);
      const { status } = await forward(client, callback, callbackHeaders(request.headers)).finally(() =>
        passing.delete(key),
      );
      if (status === undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
      sendStatus(response, status ?? 503);
    },
  });
}

const unsigned = () =>
  new ServiceError({
    code: 'invalid_client',
    message: 'Sign the callback with the secret of the client and the current time',
  });
