import { callbackHeaders } from '@clinical-launch/conformance/pms-callbacks';
import type { Run } from '@clinical-launch/conformance/run';
import { readMembers, sendReport, wantedChange, wantedFault } from '@clinical-launch/conformance/run-control';
import { type ConformanceRuns, runViews } from '@clinical-launch/conformance/runs';
import { clientId } from '@clinical-launch/contracts/registry-values';
import { closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { sendJson, sendStatus, sendText, setHeaders } from '@clinical-launch/http/answer';
import { readBytes } from '@clinical-launch/http/body';
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
const wantedFaultOf = wantedFault({ client: clientId });
const isJsonOnly = { isJsonOnly: true };

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

  const showRun: Handler = (exchange) => {
    const report = getRun(exchange).report();
    const show = () => {
      setHeaders(exchange.response, headers);
      sendText(exchange.response, 'text/html', pages.render('run.njk', { report }));
    };
    sendReport(exchange, report, { refreshSeconds: 2, show });
  };

  return [
    controlled('/runs', {
      async POST(exchange) {
        const { response } = exchange;
        const { client, protocol, attestations = {} } = await readMembers(exchange, wantedRun, isJsonOnly);
        const run = runs.start({ clientId: client, protocol, attestations });
        await run.begun();
        response.statusCode = 201;
        response.setHeader('Location', `/runs/${run.id}`);
        sendJson(response, run.report());
      },
    }),
    controlled('/runs/:id', {
      GET: showRun,
      async POST(exchange) {
        const run = getRun(exchange);
        const { do: wanted } = await readMembers(exchange, wantedChange, isJsonOnly);
        run[wanted]();
        await run.begun();
        sendJson(exchange.response, run.report());
      },
    }),
    controlled('/faults', {
      async POST(exchange) {
        const { client, ...fault } = await readMembers(exchange, wantedFaultOf, isJsonOnly);
        runs.faults.arm(client, fault);
        sendJson(exchange.response, { faults: runs.faults.of(client) });
      },
    }),
    controlled('/keys', {
      async POST(exchange) {
        await readMembers(exchange, nothing, isJsonOnly);
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
      sendStatus(response, (await runs.forward(textParameter(exchange, 'client'), message)) || 404);
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
