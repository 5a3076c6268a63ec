import { type Endpoint as EndpointName, faultNames } from '@clinical-launch/conformance/exchange';
import { readMembers, wantedFault } from '@clinical-launch/conformance/run-control';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { redirect, sendJson } from '@clinical-launch/http/answer';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import type { RecordedRequest, RecordedRequests } from '../store/recorded-requests.ts';
import { baseAddressOf } from './client-proxy.ts';
import { wantsPage } from './pages.ts';
import type { Portal } from './portal.ts';

const wanted = wantedFault({});

const endpointWords: Partial<Record<EndpointName, string>> = {
  token: 'a token',
  'launch-url': 'a launch URL',
  open: 'the opened launch URL',
};

const withTime = (one: RecordedRequest) => ({ ...one, time: new Date(one.at).toISOString().slice(11, 19) });

type RequestsOptions = { readonly runs: ConformanceRuns; readonly requests: RecordedRequests };

/**
 * Creates the inspector, which shows the last requests of the signed-in client, and the endpoint at which a
 * developer requests faults for the next requests.
 */
export function inspector(portal: Portal, { runs, requests }: RequestsOptions): readonly Endpoint[] {
  return [
    portal.behindSignIn('/developers/requests', {
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
    portal.behindSignIn('/developers/faults', {
      async POST(visit) {
        const { response, client } = visit;
        runs.faults.arm(client.clientId, await readMembers(visit, wanted));
        if (wantsPage(visit)) redirect(response, '/developers/requests');
        else sendJson(response, { faults: runs.faults.of(client.clientId) });
      },
    }),
  ];
}
