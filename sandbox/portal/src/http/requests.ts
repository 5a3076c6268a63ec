import {
  type Endpoint as EndpointName,
  endpointNames,
  faultNames,
} from '@clinical-launch/conformance/exchange';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { redirect, sendJson, wantsPage } from '@clinical-launch/http/answer';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import type { RecordedRequest, RecordedRequests } from '../store/recorded-requests.ts';
import { baseAddressOf } from './client-proxy.ts';
import type { Developers } from './portal.ts';
import { readMembers } from './read-members.ts';

const wantedFault = compileSchema(
  closedObject({
    fault: Type.Enum([...faultNames]),
    /** The form sends an empty text if the fault applies to every endpoint. */
    endpoint: Type.Optional(Type.Enum([...endpointNames, ''])),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  }),
);

const endpointWords: Partial<Record<EndpointName, string>> = {
  token: 'a token',
  'launch-url': 'a launch URL',
  open: 'the opened launch URL',
};

const withTime = (one: RecordedRequest) => ({ ...one, time: new Date(one.at).toISOString().slice(11, 19) });

type RequestsOptions = { readonly runs: ConformanceRuns; readonly requests: RecordedRequests };

/**
 * Creates the inspector, which shows the last requests of a client, and the endpoint at which a
 * developer requests faults for the next requests.
 */
export function inspector(portal: Developers, { runs, requests }: RequestsOptions): readonly Endpoint[] {
  return [
    portal.ofClient('/developers/requests', {
      GET(visit) {
        const { response, client } = visit;
        const lists = requests.of(client.clientId);
        const armed = runs.faults.of(client.clientId);
        if (!wantsPage(visit)) return sendJson(response, { ...lists, faults: armed });
        portal.show(response, 'requests.njk', {
          current: 'requests',
          baseAddress: baseAddressOf(portal.config.publicUrl, client.clientId),
          requests: lists.requests.map(withTime),
          others: lists.others.map(withTime),
          armed,
          faultNames,
          endpointWords,
        });
      },
    }),
    portal.ofClient('/developers/faults', {
      async POST(visit) {
        const { response, client } = visit;
        runs.faults.arm(client.clientId, await readMembers(visit, wantedFault));
        if (wantsPage(visit)) redirect(response, '/developers/requests');
        else sendJson(response, { faults: runs.faults.of(client.clientId) });
      },
    }),
  ];
}
