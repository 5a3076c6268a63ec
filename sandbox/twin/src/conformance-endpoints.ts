import { endpointNames, faultNames } from '@clinical-launch/conformance/exchange';
import { callbackHeaders } from '@clinical-launch/conformance/pms-callbacks';
import { junitOf } from '@clinical-launch/conformance/results';
import type { Run } from '@clinical-launch/conformance/run';
import { type ConformanceRuns, runViews } from '@clinical-launch/conformance/runs';
import { clientId } from '@clinical-launch/contracts/registry-values';
import { type CompiledSchema, closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { preferredType, sendJson, sendStatus, sendText, setHeaders } from '@clinical-launch/http/answer';
import { readBytes, readJson } from '@clinical-launch/http/body';
import {
  type Endpoint,
  type Exchange,
  endpoint,
  type Handler,
  textParameter,
} from '@clinical-launch/http/endpoint';
import { problemDialect, ServiceError } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { createPages } from '@clinical-launch/pages/templates';

const maxMessageBytes = 1024 * 1024;

const wantedRun = compileSchema(
  closedObject({
    client: clientId,
    protocol: Type.Enum(['pms', 'partner']),
    attestations: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 200 }), { maxProperties: 50 }),
    ),
  }),
);
const wantedChange = compileSchema(closedObject({ do: Type.Enum(['repeat', 'skip', 'finish']) }));
const wantedFault = compileSchema(
  closedObject({
    client: clientId,
    fault: Type.Enum([...faultNames]),
    endpoint: Type.Optional(Type.Enum([...endpointNames])),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  }),
);

/** A JSON body without members, which a page of another origin cannot send. */
const nothing = compileSchema(closedObject({}));

/**
 * Creates the endpoints that start and show conformance runs, cause faults, rotate the signing keys, and
 * forward messages to the vendor. They refuse POST requests of web pages.
 */
export function conformanceEndpoints(runs: ConformanceRuns): readonly Endpoint[] {
  const pages = createPages(runViews);
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });

  const getRun = (exchange: Exchange): Run => {
    const run = runs.find(textParameter(exchange, 'id'));
    if (run === undefined) throw new ServiceError({ code: 'not_found', message: 'Run not found' });
    return run;
  };

  const show: Handler = (exchange) => {
    const { request, response } = exchange;
    const report = getRun(exchange).report();
    const type = preferredType(request, ['application/json', 'text/html', 'application/xml']);
    if (type === 'application/xml') return sendText(response, 'application/xml', junitOf(report));
    if (type !== 'text/html') return sendJson(response, report);
    setHeaders(response, headers);
    if (report.state === 'running') response.setHeader('Refresh', '2');
    sendText(response, 'text/html', pages.render('run.njk', { report }));
  };

  return [
    controlled('/runs', {
      async POST(exchange) {
        const { response } = exchange;
        const { client, protocol, attestations = {} } = await readMembers(exchange, wantedRun);
        const run = runs.start({ clientId: client, protocol, attestations });
        await run.begun();
        response.statusCode = 201;
        response.setHeader('Location', `/runs/${run.id}`);
        sendJson(response, run.report());
      },
    }),
    controlled('/runs/:id', {
      GET: show,
      async POST(exchange) {
        const run = getRun(exchange);
        const { do: wanted } = await readMembers(exchange, wantedChange);
        run[wanted]();
        await run.begun();
        sendJson(exchange.response, run.report());
      },
    }),
    controlled('/faults', {
      async POST(exchange) {
        const { client, ...fault } = await readMembers(exchange, wantedFault);
        runs.faults.arm({ times: 1, ...fault, clientId: client });
        sendJson(exchange.response, { faults: runs.faults.of(client) });
      },
    }),
    controlled('/keys', {
      async POST(exchange) {
        await readMembers(exchange, nothing);
        runs.keys.rotate();
        sendStatus(exchange.response, 204);
      },
    }),
    messages(runs),
  ];
}

const messages = (runs: ConformanceRuns) =>
  controlled('/messages/:client', {
    async POST(exchange) {
      const { request, response } = exchange;
      const body = (await readBytes(exchange, maxMessageBytes)).toString();
      const message = { headers: callbackHeaders(request.headers), body };
      sendStatus(response, await runs.forward(textParameter(exchange, 'client'), message));
    },
  });

const controlled = (
  path: string,
  { GET, POST }: { readonly GET?: Handler; readonly POST: Handler },
): Endpoint =>
  endpoint({
    path,
    source: '/twin',
    dialect: problemDialect({ isProduction: false }),
    headers: { 'Cache-Control': 'no-store' },
    methods: {
      ...(GET && { GET }),
      POST(exchange) {
        refuseOrigin(exchange);
        return POST(exchange);
      },
    },
  });

/** Refuses requests of web pages, whose POST always has an Origin (WHATWG Fetch). @throws ServiceError 403 */
function refuseOrigin({ request }: Exchange): void {
  if (request.headers.origin !== undefined)
    throw new ServiceError({ code: 'insufficient_scope', message: 'Web pages must not send this request' });
}

/** Reads a JSON body. @throws ServiceError 400 that lists every fault, 413 or 415 */
async function readMembers<Members>(exchange: Exchange, schema: CompiledSchema<Members>): Promise<Members> {
  const body = await readJson(exchange, { types: ['application/json'], limitBytes: 64 * 1024 });
  if (schema.is(body)) return body;
  throw new ServiceError({
    code: 'invalid_request',
    message: 'The request is invalid. Correct the fields listed in `errors` and send it again',
    faults: schema.faultsOf(body),
  });
}
