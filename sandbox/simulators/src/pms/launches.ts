import { randomUUID } from 'node:crypto';
import { BoundedMap, type RecordedExchange, rememberToken } from '@clinical-launch/conformance/recorder';
import { type Action, actions } from '@clinical-launch/contracts/launch-context';
import { readForm } from '@clinical-launch/http/body';
import type { Exchange, Handler } from '@clinical-launch/http/endpoint';
import {
  buildServiceRequest,
  createPkcePair,
  createPmsClient,
  LaunchRefused,
  type PmsClient,
  TokenRefused,
} from '@clinical-launch/pms-client';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import { Browser } from '../play/browser.ts';
import { orderTests } from '../play/order-tests.ts';
import { badRequest, getPatient, type Patient, records } from '../records.ts';
import { type Simulation, simulated } from '../simulator.ts';
import { type Attempt } from '../wire/visits.ts';
import type { ReturnedDocuments } from './returned-documents.ts';
import { shownOrder } from './shown-order.ts';

/**
 * Seconds after which a launch URL has expired: its lifetime (OLTR: Limits) and one second for the request.
 */
const afterLaunchUrl = 11;

type Dependencies = {
  /** The launch URL that the browser opened, with the code verifier. */
  readonly url: string;
  readonly action: Action;
  readonly payload: object;
  /** Requests another launch for the same patient with a new identifier, and resolves with its URL. */
  readonly requestAnother: () => Promise<string>;
  readonly open: (address: string) => Promise<unknown>;
  readonly client: PmsClient;
  /** Creates the client of a practice system without the right to launch. */
  readonly clientWithoutRight: () => PmsClient;
};

/** Returns the requests that a visitor can repeat, or send with a deliberate error, after an OLTR launch. */
function launchAttempts(dependencies: Dependencies): Map<string, Attempt> {
  const { url, action, payload, requestAnother, open, client, clientWithoutRight } = dependencies;
  const attempts = new Map<string, Attempt>([
    [
      'again',
      {
        label: 'Play it again: 410',
        explanation: 'Sends the launch URL of this launch a second time.',
        async send() {
          await open(url);
          return undefined;
        },
      },
    ],
    [
      'verifier',
      {
        label: 'Wrong verifier: 401',
        explanation: 'Requests another launch URL, and opens it with the verifier of somebody else.',
        async send() {
          const another = new URL(await requestAnother());
          another.searchParams.set('codeVerifier', createPkcePair().codeVerifier);
          await open(another.href);
          return undefined;
        },
      },
    ],
    [
      'late',
      {
        label: 'After ten seconds: 401',
        explanation: `Requests another launch URL, and opens it ${afterLaunchUrl} seconds later.`,
        async send() {
          const another = await requestAnother();
          return { afterSeconds: afterLaunchUrl, send: async () => void (await open(another)) };
        },
      },
    ],
    [
      'identifier',
      {
        label: 'Same identifier: 409',
        explanation: 'Sends the payload of this launch a second time. A retry cannot create a second order.',
        send: () => refused(client.requestLaunch(payload)),
      },
    ],
    [
      'right',
      {
        label: 'A client without the right: 403',
        explanation: 'Sends the same payload as a client that is registered without the right to launch.',
        send: () => refused(clientWithoutRight().requestLaunch(payload)),
      },
    ],
  ]);
  // Other actions may use the identifier of an existing order again, so the answer would not be 409.
  if (action !== 'OrderTest') attempts.delete('identifier');
  return attempts;
}

async function refused(request: Promise<unknown>): Promise<undefined> {
  await request.catch((error: unknown) => {
    if (!(error instanceof LaunchRefused)) throw error;
  });
}

type SentLaunch = { readonly patientId: string; readonly action: Action; readonly originatingId: string };

type Launched = {
  readonly id: string;
  readonly url: string;
  readonly action: Action;
  readonly payload: object;
  readonly patient: Patient;
  readonly exchanges: RecordedExchange[];
};

/** The actions that open the request of an earlier launch with the same originating id. */
const actsOnExisting: readonly Action[] = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'];
export const application = { name: 'Harbour Practice Manager (simulator)', home: '/demo/pms' };

/**
 * Creates the part of the PMS that requests launches. The user's browser opens the launch, or the simulator
 * acts as the user.
 */
export function pmsLaunches(simulation: Simulation, documents: ReturnedDocuments) {
  const { clock, show, sendTo, reach, recorder, visits } = simulation;
  const { platformUrl, names } = simulation.config;
  const launches = new BoundedMap<SentLaunch>();
  const clientOf = (clientId: string) =>
    createPmsClient({
      baseUrl: platformUrl,
      tokenUrl: `${platformUrl}/idp/demo/oauth2/v2.0/token`,
      clientId,
      clientSecret: demoSecret(clientId),
      scope: names.scope,
      now: () => clock.now(),
      fetch: recorder.fetchAs('Practice system'),
    });
  const client = clientOf('pms-demo');
  const withToken = rememberToken();
  const sendAsBrowser = recorder.fetchAs('Browser');
  const open = (address: string) => sendAsBrowser(reach(address), { redirect: 'manual' });

  const launchWith =
    (handOn: (exchange: Exchange, launched: Launched) => Promise<void> | void): Handler =>
    async (exchange) => {
      const { response, call } = exchange;
      const form = await readForm(exchange);
      const patient = getPatient(form.get('patient') ?? '');
      const action = actions.find((name) => name === form.get('action'));
      if (action === undefined) throw badRequest('Action not found');
      const originatingId = originatingIdFor(action, patient.id);
      if (originatingId === undefined)
        return show(response, 'pms/views/no-request.njk', { application, patient });
      try {
        const payload = payloadOf({ action, originatingId, patient });
        const sent: RecordedExchange[] = [];
        const { url, correlationId } = await recorder.into(sent, () => client.requestLaunch(payload));
        launches.set(correlationId, { patientId: patient.id, action, originatingId });
        const launched = { id: correlationId, url, action, payload, patient, exchanges: withToken(sent) };
        visits.store(exchange, visitOf(launched));
        await handOn(exchange, launched);
      } catch (error) {
        if (!(error instanceof LaunchRefused || error instanceof TokenRefused)) throw error;
        call.logger.warn({ err: error }, 'the launch was refused');
        response.statusCode = 502;
        show(response, 'pms/views/refused.njk', { application, error, patient });
      }
    };

  const visitOf = ({ id, url, action, payload, patient, exchanges }: Launched) => {
    const requestAnother = async () => {
      const another = { action: 'OrderTest', originatingId: `HS-${randomUUID()}`, patient } as const;
      return (await client.requestLaunch(payloadOf(another))).url;
    };
    const clientWithoutRight = () => clientOf('pms-noscope');
    return {
      id,
      kind: 'OLTR launch' as const,
      patient: patient.name,
      exchanges,
      attempts: launchAttempts({ url, action, payload, requestAnother, open, client, clientWithoutRight }),
      documents: () => documents.ofLaunch(id),
    };
  };

  const launch = launchWith(({ response }, { id, url, exchanges }) => {
    recorder.unseen(exchanges, { address: url, reference: id });
    sendTo(response, url);
  });

  /** Orders two tests as the user would, so that every request of the browser can be shown. */
  const play = launchWith(async ({ response, call }, { id, url, exchanges }) => {
    const browser = new Browser(reach, sendAsBrowser);
    await recorder
      .into(exchanges, async () => {
        const { document } = await orderTests(browser, await browser.open(url));
        documents.file({ launchId: id, orderGuid: shownOrder(document).guid, document }, 'page');
      })
      .catch((error: unknown) => call.logger.warn({ err: error }, 'the order was not completed'));
    sendTo(response, `/demo/wire/${id}`);
  });

  const payloadOf = (wanted: Omit<SentLaunch, 'patientId'> & { patient: Patient }) => {
    const authoredOn = new Date(clock.now()).toISOString();
    return buildServiceRequest({ ...records, ...wanted, authoredOn }, names.namespaces);
  };

  /** Returns the id of the newest OrderTest of the patient for an action that needs one, otherwise a new id. */
  function originatingIdFor(action: Action, patientId: string): string | undefined {
    if (!actsOnExisting.includes(action)) return `HS-${randomUUID()}`;
    return [...launches.values()].findLast(
      (sent) => sent.patientId === patientId && sent.action === 'OrderTest',
    )?.originatingId;
  }

  return {
    endpoints: [
      simulated('/demo/pms/launches', { POST: launch }),
      simulated('/demo/pms/played', { POST: play }),
    ],
    /** Returns the record of a launch, or undefined if this PMS did not request the launch. */
    find: (correlationId: string): SentLaunch | undefined => launches.get(correlationId),
  };
}
