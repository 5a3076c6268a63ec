import { fileURLToPath } from 'node:url';
import { type RecordedExchange, rememberToken } from '@clinical-launch/conformance/recorder';
import type { RegisteredPartner, Registry } from '@clinical-launch/contracts/registry';
import { wantsPage } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint, Handler } from '@clinical-launch/http/endpoint';
import { type ErrorDialect, ServiceError } from '@clinical-launch/http/errors';
import { queryOf } from '@clinical-launch/http/request-target';
import { serveAssets } from '@clinical-launch/pages/templates';
import { TokenRefused } from '@clinical-launch/pms-client';
import type { Service } from '@clinical-launch/process/service';
import { demoSecret, hasDemoSecret } from '@clinical-launch/trust/production-registry';
import { createHostClient, DesktopLaunchRefused } from './host/desktop-launch.ts';
import { partnerSimulator } from './partner/simulator.ts';
import { pmsSimulator } from './pms/simulator.ts';
import { badRequest, getPatient, records } from './records.ts';
import { shownPatient, shownRecords } from './shown-patient.ts';
import {
  createSimulation,
  type Dependencies,
  dialect,
  type Simulation,
  type SimulatorConfig,
  simulated,
} from './simulator.ts';
import { staffSimulator } from './staff/simulator.ts';
import { wirePages } from './wire/pages.ts';

/**
 * Returns the clients with a publicly known secret. The secrets of other clients are not available, because
 * the registry contains only their hashes.
 */
export function demoClients({ realms }: Registry) {
  return realms.flatMap(({ realm, clients }) =>
    clients.filter(hasDemoSecret).map(({ clientId, name, scopes }) => {
      const rights = scopes.join(', ') || 'none';
      return { clientId, name, secret: demoSecret(clientId), realm, rights };
    }),
  );
}

const addressNotFound = () => new ServiceError({ code: 'not_found', message: 'Page not found' });

/** Creates the dialect that answers browsers with a page, for addresses of nobody. */
const pageNotFound =
  ({ show }: Simulation): ErrorDialect =>
  (error, exchange) => {
    if (!wantsPage(exchange)) return dialect(error, exchange);
    show(exchange.response, 'views/not-found.njk', { application: { name: 'Clinical Launch', home: '/' } });
  };

/** Returns the partner applications that the host application of the demo can open. */
const partnersOf = ({ realms }: Registry): readonly RegisteredPartner[] =>
  realms.find(({ realm }) => realm === 'demo/desktop')?.desktop?.partners ?? [];

/**
 * Creates the applications around the platform for the demo: a practice management system, a host
 * application, a partner application, and the identity provider of the staff. Each uses the platform as a
 * real application would. The page at `/` links to them.
 */
export function simulators(config: SimulatorConfig, { clock, registry }: Dependencies): Service {
  const simulation = createSimulation(config, { clock, registry });
  const application = { name: 'Clinical Launch', home: '/' };
  const start = simulated('/', {
    GET({ response }) {
      const [clients, partners] = [demoClients(registry.current()), partnersOf(registry.current())];
      const model = { application, publicUrl: config.publicUrl, records: shownRecords, clients, partners };
      simulation.show(response, 'views/index.njk', model);
    },
  });
  const staff = staffSimulator(simulation);
  return {
    name: 'simulators',
    endpoints: [
      start,
      // Addresses that people type.
      simulated('/demo', { GET: ({ response }) => simulation.sendTo(response, '/') }),
      simulated('/docs', { GET: ({ response }) => simulation.sendTo(response, '/developers/guides') }),
      ...pmsSimulator(simulation),
      ...hostSimulator(simulation),
      ...partnerSimulator(simulation),
      ...wirePages(simulation),
      ...staff.endpoints,
    ],
    below: [
      { path: '/demo/assets', serve: serveAssets(fileURLToPath(new URL('./public', import.meta.url))) },
      ...staff.below,
    ],
    edges: [{ path: '/', dialect: pageNotFound(simulation), notFound: addressNotFound }],
  };
}

const application = { name: 'Harbour Desktop (simulator)', home: '/demo/host' };
/** The form of client ids in the registry. The identity provider refuses ids that are not registered. */
const clientIdForm = /^[\w.~-]{1,200}$/;
const clinicalPermission = 'clinical-cr.read';

/**
 * Creates a small host application for the demo. Its user is already signed in. Its backend requests the
 * launch of a partner application for the open patient. The user's browser then opens the launch URL.
 */
function hostSimulator(simulation: Simulation): Endpoint[] {
  const { show, sendTo, registry, recorder, visits } = simulation;
  const client = createHostClient(simulation);
  const withToken = rememberToken();

  const showRecord: Handler = ({ request, response }) => {
    const patient = getPatient(queryOf(request).get('patient'));
    const partners = partnersOf(registry.current());
    const model = { application, records: shownRecords, patient: shownPatient(patient), partners };
    show(response, 'host/views/record.njk', model);
  };

  const launch: Handler = async (exchange) => {
    const { response, call } = exchange;
    const form = await readForm(exchange);
    const patient = getPatient(form.get('patient') ?? '');
    const clientId = (form.get('partner') ?? '').trim();
    if (!clientIdForm.test(clientId)) throw badRequest('Choose a partner application');
    const authorizations = records.host.authorizations.filter(
      (name) => name !== clinicalPermission || form.get('permission') === clinicalPermission,
    );
    try {
      const sent: RecordedExchange[] = [];
      const { launchUrl, expiresInSeconds, correlationId } = await recorder.into(sent, () =>
        client.requestLaunch({ clientId, patient, authorizations }),
      );
      const visited = { id: correlationId, kind: 'Desktop launch', patient: patient.name } as const;
      // The partner simulator finds the recorded launch by the launch identifier.
      const key = new URL(launchUrl).searchParams.get('launch') ?? '';
      visits.store(exchange, { ...visited, exchanges: withToken(sent) }, [key]);
      const scheme = new URL(launchUrl).protocol;
      if (/^https?:$/.test(scheme)) return sendTo(response, launchUrl);
      // The browser asks the user before it starts another program, so this page explains the question first.
      const model = { application, patient, launchUrl, scheme, expiresInSeconds };
      show(response, 'host/views/native.njk', model);
    } catch (error) {
      if (!(error instanceof DesktopLaunchRefused || error instanceof TokenRefused)) throw error;
      call.logger.warn({ err: error }, 'the launch was refused');
      response.statusCode = 502;
      show(response, 'host/views/refused.njk', { application, error, patient });
    }
  };

  return [simulated('/demo/host', { GET: showRecord }), simulated('/demo/host/launches', { POST: launch })];
}
