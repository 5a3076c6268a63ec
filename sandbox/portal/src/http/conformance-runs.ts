import { junitOf } from '@clinical-launch/conformance/results';
import type { Run } from '@clinical-launch/conformance/run';
import { type ConformanceRuns, protocols } from '@clinical-launch/conformance/runs';
import { signStatement } from '@clinical-launch/conformance/statement';
import { closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { preferredType, redirect, sendJson, sendText, wantsPage } from '@clinical-launch/http/answer';
import { type Endpoint, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { version } from '@clinical-launch/runtime/logger';
import { baseAddressOf } from './client-proxy.ts';
import type { ClientVisit, Developers, Portal } from './portal.ts';
import { readMembers } from './read-members.ts';

/** The requirements that requests cannot prove. A person at the vendor attests them. */
const attestedBy = (protocol: Run['protocol']) =>
  protocols[protocol].requirements.filter(({ judge }) => judge === undefined);

/** The names of the people who attest requirements, by requirement id. A form sends an empty name for nobody. */
const wantedRun = compileSchema(
  Type.Record(Type.String(), Type.String({ maxLength: 200 }), { maxProperties: 50 }),
);
/** The changes of a run: to repeat a step, to skip a step, and to finish the run. */
const wantedChange = compileSchema(closedObject({ do: Type.Enum(['repeat', 'skip', 'finish']) }));

/** @throws ServiceError 404 for an unknown run, or a run of another client */
const runOf = (visit: ClientVisit, runs: ConformanceRuns): Run => {
  const run = runs.find(textParameter(visit, 'id'));
  if (run?.clientId === visit.client.clientId) return run;
  throw new ServiceError({ code: 'not_found', message: 'Run not found' });
};

/** Answers a browser with the page of the run, and a tool with its report when the step has begun. */
async function answerRun({ request, response }: ClientVisit, run: Run, status: 200 | 201): Promise<void> {
  const address = `/developers/runs/${run.id}`;
  if (wantsPage({ request })) return redirect(response, address);
  await run.begun();
  response.statusCode = status;
  if (status === 201) response.setHeader('Location', address);
  sendJson(response, run.report());
}

/** Creates the endpoints that start, show and change the conformance runs of a client. */
export function conformanceRuns(portal: Developers, runs: ConformanceRuns): readonly Endpoint[] {
  return [
    portal.ofClient('/developers/runs', {
      GET(visit) {
        const { response, client } = visit;
        const reports = runs.of(client.clientId).map((run) => run.report());
        if (!wantsPage(visit)) return sendJson(response, { runs: reports });
        portal.show(response, 'runs.njk', {
          current: 'runs',
          client,
          baseAddress: baseAddressOf(portal.config.publicUrl, client.clientId),
          runs: reports,
          attested: attestedBy(client.protocol),
        });
      },
      async POST(visit) {
        const { clientId, protocol } = visit.client;
        const names = await readMembers(visit, wantedRun);
        const attestations = attestedBy(protocol).flatMap(({ id }) => {
          const name = names[id]?.trim() ?? '';
          return name === '' ? [] : [[id, name] as const];
        });
        const run = runs.start({ clientId, protocol, attestations: Object.fromEntries(attestations) });
        await answerRun(visit, run, 201);
      },
    }),
    portal.ofClient('/developers/runs/:id', {
      GET(visit) {
        const { request, response } = visit;
        const report = runOf(visit, runs).report();
        const type = preferredType(request, ['application/json', 'text/html', 'application/xml']);
        if (type === 'application/xml') return sendText(response, 'application/xml', junitOf(report));
        if (type !== 'text/html') return sendJson(response, report);
        if (report.state === 'running') response.setHeader('Refresh', '2');
        const isSigned = portal.config.statementKeys !== undefined;
        const counts = Object.entries(Object.groupBy(report.requirements, ({ result }) => result)).map(
          ([result, ones]) => ({ result, count: ones.length }),
        );
        portal.show(response, 'conformance-run.njk', { current: 'runs', report, counts, isSigned });
      },
      async POST(visit) {
        const run = runOf(visit, runs);
        const { do: change } = await readMembers(visit, wantedChange);
        run[change]();
        await answerRun(visit, run, 200);
      },
    }),
  ];
}

/**
 * Creates the endpoints of the signed statement of a finished run, and of the public keys that verify it
 * (RFC 7517). Each request signs the statement again, so `iat` is the time of the request.
 */
export function statements(portal: Portal, runs: ConformanceRuns): readonly Endpoint[] {
  const { config, clock } = portal;
  const { statementKeys, publicUrl: issuer } = config;
  const keys = [...statementKeys.verification].map(([kid, key]) => ({
    ...key.export({ format: 'jwk' }),
    kid,
    alg: 'EdDSA',
    use: 'sig',
  }));
  return [
    portal.ofClient('/developers/runs/:id/statement', {
      async GET(visit) {
        const { response } = visit;
        const report = runOf(visit, runs).report();
        if (report.state !== 'finished' || statementKeys.signing === undefined)
          throw new ServiceError({
            code: 'not_found',
            message: 'This run has no statement yet. Finish the run first',
          });
        const signing = {
          key: statementKeys.signing,
          issuer,
          issuedAt: clock.now(),
          platformVersion: version,
        };
        response.setHeader('Content-Disposition', `attachment; filename="conformance-${report.run}.jws"`);
        sendText(response, 'application/jose', `${await signStatement(report, signing)}\n`);
      },
    }),
    portal.open('/developers/statement-keys', { GET: ({ response }) => sendJson(response, { keys }) }),
  ];
}
