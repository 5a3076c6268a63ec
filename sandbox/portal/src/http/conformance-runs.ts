import { pmsProtocol } from '@clinical-launch/conformance/pms';
import type { Attestations, Run } from '@clinical-launch/conformance/run';
import { readMembers, sendReport, wantedChange } from '@clinical-launch/conformance/run-control';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { signStatement } from '@clinical-launch/conformance/statement';
import { redirect, sendJson, sendText } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import { type Endpoint, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { version } from '@clinical-launch/runtime/logger';
import { baseAddressOf } from './client-proxy.ts';
import type { Portal, Visit } from './portal.ts';

/** The requirements that requests cannot prove. A person at the vendor attests them. */
const attested = pmsProtocol.requirements.filter(({ judge }) => judge === undefined);
const maxNameLength = 200;

/** Creates the pages of the conformance runs of the signed-in client. */
export function conformanceRuns(portal: Portal, runs: ConformanceRuns): readonly Endpoint[] {
  /** @throws ServiceError 404 for an unknown run, or a run of another client */
  const runOf = (visit: Visit): Run => {
    const run = runs.find(textParameter(visit, 'id'));
    if (run?.clientId === visit.client.clientId) return run;
    throw new ServiceError({ code: 'not_found', message: 'Run not found' });
  };
  const addressOf = (run: Run) => `/developers/runs/${run.id}`;

  return [
    portal.behindSignIn('/developers/runs', {
      GET({ response, client: { clientId } }) {
        portal.show(response, 'runs.njk', {
          current: 'runs',
          baseAddress: baseAddressOf(portal.config.publicUrl, clientId),
          runs: runs.of(clientId).map((run) => run.report()),
          attested,
        });
      },
      async POST(visit) {
        const {
          response,
          client: { clientId },
        } = visit;
        const attestations = attestationsIn(await readForm(visit));
        const run = runs.start({ clientId, protocol: 'pms', attestations });
        redirect(response, addressOf(run));
      },
    }),
    portal.behindSignIn('/developers/runs/:id', {
      GET(visit) {
        const report = runOf(visit).report();
        const model = { current: 'runs', report };
        sendReport(visit, report, {
          refreshSeconds: 5,
          show: () => portal.show(visit.response, 'conformance-run.njk', model),
        });
      },
      async POST(visit) {
        const run = runOf(visit);
        const { do: change } = await readMembers(visit, wantedChange);
        run[change]();
        redirect(visit.response, addressOf(run));
      },
    }),
    ...statements(portal, runOf),
  ];
}

/**
 * Creates the endpoints of the signed statement of a finished run, and of the public keys that verify it
 * (RFC 7517). Each request signs the statement again, so `iat` is the time of the request.
 */
function statements(portal: Portal, runOf: (visit: Visit) => Run): readonly Endpoint[] {
  const { config, clock } = portal;
  const { statementKeys, publicUrl: issuer } = config;
  const keys = [...statementKeys.verification].map(([kid, key]) => ({
    ...key.export({ format: 'jwk' }),
    kid,
    alg: 'EdDSA',
    use: 'sig',
  }));
  return [
    portal.behindSignIn('/developers/runs/:id/statement', {
      async GET(visit) {
        const { response } = visit;
        const report = runOf(visit).report();
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

/** Returns the names of the people who attest requirements, by requirement id. @throws ServiceError 400 */
function attestationsIn(form: URLSearchParams): Attestations {
  const given = attested.flatMap(({ id }) => {
    const name = form.get(id)?.trim() ?? '';
    if (name.length > maxNameLength)
      throw new ServiceError({
        code: 'invalid_request',
        message: `A name must have at most ${maxNameLength} characters`,
      });
    return name === '' ? [] : [[id, name] as const];
  });
  return Object.fromEntries(given);
}
