import {
  type Endpoint as EndpointName,
  endpointNames,
  faultNames,
} from '@clinical-launch/conformance/exchange';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { preferredType, redirect, sendJson } from '@clinical-launch/http/answer';
import { readForm, readJson } from '@clinical-launch/http/body';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import type { RecordedRequests } from '../store/recorded-requests.ts';
import { baseAddressOf } from './client-proxy.ts';
import type { Portal, Visit } from './portal.ts';

const wantedFault = compileSchema(
  closedObject({
    fault: Type.Enum([...faultNames]),
    endpoint: Type.Optional(Type.Enum([...endpointNames])),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  }),
);

/** The endpoints that a practice management system calls, with their names on the page. */
const endpointWords: Partial<Record<EndpointName, string>> = {
  token: 'a token',
  'launch-url': 'a launch URL',
  open: 'the opened launch URL',
};

type RequestsOptions = { readonly runs: ConformanceRuns; readonly requests: RecordedRequests };

/**
 * Creates the inspector, which shows the last requests of the signed-in client, and the endpoint at which a
 * developer requests faults for the next requests.
 */
export function inspector(portal: Portal, { runs, requests }: RequestsOptions): readonly Endpoint[] {
  const wantsJson = ({ request }: Visit) =>
    preferredType(request, ['application/json', 'text/html']) !== 'text/html';

  return [
    portal.behindSignIn('/developers/requests', {
      GET(visit) {
        const { response, client } = visit;
        const recorded = requests.of(client.clientId);
        const armed = runs.faults.of(client.clientId);
        if (wantsJson(visit)) return sendJson(response, { requests: recorded, faults: armed });
        portal.show(response, 'requests.njk', {
          current: 'requests',
          baseAddress: baseAddressOf(portal.config.publicUrl, client.clientId),
          requests: recorded.map((one) => ({ ...one, time: new Date(one.at).toISOString().slice(11, 19) })),
          armed,
          faultNames,
          endpointWords,
        });
      },
    }),
    portal.behindSignIn('/developers/faults', {
      async POST(visit) {
        const { request, response, client } = visit;
        const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
        const wanted = isForm
          ? fieldsOf(await readForm(request, response))
          : await readJson(request, response, { types: ['application/json'], limitBytes: 10_000 });
        if (!wantedFault.is(wanted))
          throw new ServiceError({
            code: 'invalid_request',
            message: 'The fault is invalid. Correct the fields and send it again',
            faults: wantedFault.faultsOf(wanted),
          });
        runs.faults.arm({ times: 1, ...wanted, clientId: client.clientId });
        if (isForm) return redirect(response, '/developers/requests');
        sendJson(response, { faults: runs.faults.of(client.clientId) });
      },
    }),
  ];
}

/** Returns the fields of the form. Omits empty fields, so that their defaults apply. */
function fieldsOf(form: URLSearchParams): object {
  const given = [...form].filter(([, value]) => value !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, name === 'times' ? Number(value) : value]));
}
