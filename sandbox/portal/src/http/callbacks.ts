import { isUtf8 } from 'node:buffer';
import { callbackHeaders } from '@clinical-launch/conformance/pms-callbacks';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { localTime } from '@clinical-launch/contracts/time';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { redirect, sendJson, sendStatus, wantsPage } from '@clinical-launch/http/answer';
import { readBytes } from '@clinical-launch/http/body';
import { type Endpoint, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { type Attempt, addressFault, findSignature, isSigned, testKinds } from '../domain/callbacks.ts';
import { isDemoClient } from '../domain/sandbox-clients.ts';
import type { Forwarding } from './forward-callback.ts';
import type { ClientVisit, Developers } from './portal.ts';
import { readMembers } from './read-members.ts';

const page = '/developers/callbacks';

const wantedSchema = compileSchema(
  closedObject({
    address: optionalText({ maxLength: 2000 }),
    kind: Type.Optional(Type.Enum([...testKinds])),
  }),
);

/**
 * Creates the endpoints that receive the callbacks of sandbox clients, forward them, and show them to the
 * developers of the client. The page and its forms can also answer with JSON.
 */
export function callbacks(
  portal: Developers,
  { forwarding, runs }: { readonly forwarding: Forwarding; readonly runs: ConformanceRuns },
): readonly Endpoint[] {
  return [
    showCallbacks(portal, forwarding),
    portal.ofClient('/developers/callbacks/:id/again', {
      async POST(visit) {
        const callback = portal.callbacks.find(visit.client.clientId, textParameter(visit, 'id'));
        if (callback === undefined)
          throw new ServiceError({ code: 'not_found', message: 'Callback not found' });
        await forwarding.send(visit.client, callback);
        answer(visit, portal);
      },
    }),
    receiveCallback(portal, forwarding, runs),
  ];
}

const showCallbacks = (portal: Developers, forwarding: Forwarding): Endpoint => {
  const { config, show } = portal;
  const showPage = (
    visit: ClientVisit,
    more: { readonly typed?: string; readonly faults?: readonly object[] },
  ) =>
    show(visit.response, 'callbacks.njk', {
      current: 'callbacks',
      client: visit.client,
      registeredAddress: forwarding.registeredAddress(visit.client),
      isRegistered: forwarding.isRegistered(visit.client),
      // The secrets of the demo are public.
      secret: isDemoClient(visit.client) ? forwarding.secretsOf(visit.client)[0] : undefined,
      ...reportOf(visit, portal),
      ...more,
    });

  return portal.ofClient(page, {
    GET(visit) {
      if (wantsPage(visit)) showPage(visit, {});
      else sendJson(visit.response, reportOf(visit, portal));
    },
    async POST(visit) {
      const { address: entered, kind } = await readMembers(visit, wantedSchema);
      const address = entered?.trim();
      const fault = address ? addressFault(address, config.publicUrl) : undefined;
      if (address !== undefined && fault !== undefined) {
        const faults = [{ path: 'address', message: fault, code: 'value' } as const];
        if (!wantsPage(visit))
          throw new ServiceError({ code: 'invalid_request', message: 'The address is invalid', faults });
        visit.response.statusCode = 400;
        return showPage(visit, { typed: address, faults });
      }
      if (address !== undefined) portal.callbacks.setAddress(visit.client.clientId, address || undefined);
      if (kind !== undefined) await forwarding.sendTest(visit.client, kind);
      answer(visit, portal);
    },
  });
};

/** Answers a form: redirects a browser to the page, and sends the content of the page as JSON to a tool. */
function answer(visit: ClientVisit, portal: Developers): void {
  if (wantsPage(visit)) redirect(visit.response, page);
  else sendJson(visit.response, reportOf(visit, portal));
}

/** Returns the callbacks of a client and their attempts. Omits the bodies, which contain patient data. */
function reportOf({ client: { clientId } }: ClientVisit, { callbacks: recorded }: Developers) {
  return {
    address: recorded.addressOf(clientId),
    callbacks: recorded
      .list(clientId)
      .map(({ id, kind, attempts }) => ({ id, kind, attempts: attempts.map(attemptShown) })),
  };
}

const attemptShown = ({ at, receiver = 'none', status, refusal }: Attempt) => ({
  at: `${localTime(at, 'UTC')}Z`,
  receiver,
  result: status ?? refusal ?? (receiver === 'none' ? 'no receiver' : 'no answer'),
});

const maxCallbackBytes = 1024 * 1024;
const retryAfterSeconds = 5;

/**
 * Creates the endpoint that receives the callbacks or logout tokens of a client from the platform. Answers with
 * the status that the receiver answered. If no receiver answers, answers 503, so that the platform tries again.
 * If the receiver sends the callback back, answers 508, because it would be passed on without end.
 */
function receiveCallback(portal: Developers, forwarding: Forwarding, runs: ConformanceRuns): Endpoint {
  const passing = new Set<string>();
  return portal.open('/developers/callbacks/:client', {
    async POST(exchange) {
      const { request, response, call } = exchange;
      const client = portal.clients().get(textParameter(exchange, 'client'));
      if (client === undefined) throw new ServiceError({ code: 'not_found', message: 'Client not found' });
      const isPartner = client.protocol === 'partner' && forwarding.isRegistered(client);
      const signature = isPartner ? undefined : findSignature(request.headers, portal.clock.now());
      if (signature === undefined && !isPartner) throw unsigned();
      const bytes = await readBytes(exchange, maxCallbackBytes);
      const body = isUtf8(bytes) ? bytes.toString() : '';
      // The partner verifies the signature of its logout token itself.
      if (signature !== undefined && !isSigned(body, { ...signature, secrets: forwarding.secretsOf(client) }))
        throw unsigned();
      call.identify(`callbacks of ${client.clientId}`, client.clientId);
      const id = signature?.id ?? call.correlationId;
      const key = JSON.stringify([client.clientId, id]);
      if (passing.has(key)) return sendStatus(response, 508);
      passing.add(key);
      const headers = callbackHeaders(request.headers);
      const forwarded = forwarding.hasReceiver(client)
        ? runs.forward(client.clientId, { headers, body })
        : forwarding.forward(client, { id, kind: 'delivery', body }, headers).then(() => 0);
      const status = await forwarded.finally(() => passing.delete(key));
      if (status === 0) response.setHeader('Retry-After', String(retryAfterSeconds));
      sendStatus(response, status || 503);
    },
  });
}

const unsigned = () =>
  new ServiceError({
    code: 'invalid_client',
    message: 'Sign the callback with the secret of the client and the current time',
  });
