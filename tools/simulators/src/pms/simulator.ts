import { randomUUID } from 'node:crypto';
import { type Action, actions } from '@clinical-launch/contracts/launch-context';
import { compileSchema, guidForm } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { sendStatus } from '@clinical-launch/http/answer';
import { readForm, readJson } from '@clinical-launch/http/body';
import type { Endpoint, Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import {
  buildServiceRequest,
  createPmsClient,
  LaunchRefused,
  TokenRefused,
} from '@clinical-launch/pms-client';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import { badRequest, getPatient, type Patient, records } from '../records.ts';
import { shownPatient, shownRecords } from '../shown-patient.ts';
import { Memory, type Simulation, simulated } from '../simulator.ts';
import { pmsCallbacks } from './callbacks.ts';
import { ReturnedDocuments } from './returned-documents.ts';

/** The PMS's record of a launch that it requested. */
type SentLaunch = { readonly patientId: string; readonly action: Action; readonly originatingId: string };

const returnedDocument = compileSchema(
  Type.Object({
    launchId: Type.String({ maxLength: 36 }),
    orderGuid: Type.String({ maxLength: 36 }),
    document: Type.String({ maxLength: 200_000 }),
  }),
);

const actionLabels: Readonly<Record<Action, string>> = {
  OrderTest: 'Order tests',
  UpdateTest: 'Change a request',
  PatientSampleQueue: 'Record samples',
  PatientRequestList: "Patient's incomplete requests",
  PatientReport: 'View a request',
  PatientReportList: "Patient's requests",
  LocationSampleQueue: "Practice's sample queue",
  LocationReportList: "Practice's requests",
};
/** The advice to a user, by the reason of the refusal (docs/reference/errors.md). */
const adviceByReason = new Map([
  [
    'token_used',
    'It was opened before, and each launch opens once. If its window is still open, continue there. Otherwise, start again from the record.',
  ],
  ['token_unknown', 'It was not opened within ten seconds. Start again from the record.'],
  ['verifier_mismatch', 'Its address was not complete. Start again from the record.'],
]);
/** These open the request that an earlier launch of the same originating id created. */
const actsOnExisting: readonly Action[] = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'];
const application = { name: 'Harbour Practice Manager (simulator)', home: '/demo/pms' };

/**
 * Creates a small practice management system, for the demo: its backend requests a launch URL as any PMS
 * does, the browser opens it, and the order document is returned to the page and to the backend.
 */
export function pmsSimulator(simulation: Simulation): Endpoint[] {
  const { config, clock, show, sendTo } = simulation;
  const { publicUrl, platformUrl, dialect } = config;
  const launches = new Memory<SentLaunch>();
  const documents = new ReturnedDocuments();
  const callbacks = pmsCallbacks(simulation, documents);
  const client = createPmsClient({
    baseUrl: platformUrl,
    tokenUrl: `${platformUrl}/idp/demo/oauth2/v2.0/token`,
    clientId: 'pms-demo',
    clientSecret: demoSecret('pms-demo'),
    scope: dialect.scope,
    now: () => clock.now(),
  });

  const showRecord: Handler = ({ request, response }) => {
    const patient = getPatient(queryOf(request).get('patient'));
    const returned = documents.of(nhsNumberOf(patient));
    show(response, 'pms/views/record.njk', {
      application,
      records: shownRecords,
      patient: shownPatient(patient),
      actionLabels,
      publicUrl,
      returned,
      callbacks: callbacks.shown(),
    });
  };

  const launch: Handler = async ({ request, response, call }) => {
    const form = await readForm(request, response);
    const patient = getPatient(form.get('patient') ?? '');
    const action = actions.find((name) => name === form.get('action'));
    if (action === undefined) throw badRequest('Action not found');
    const originatingId = originatingIdFor(action, patient.id);
    try {
      const { url, correlationId } = await client.requestLaunch(
        payloadOf({ action, originatingId, patient }),
      );
      launches.set(correlationId, { patientId: patient.id, action, originatingId });
      sendTo(response, url);
    } catch (error) {
      if (!(error instanceof LaunchRefused || error instanceof TokenRefused)) throw error;
      call.logger.warn({ err: error }, 'the launch was refused');
      response.statusCode = 502;
      show(response, 'pms/views/refused.njk', { application, error, patient });
    }
  };

  const showLaunchError: Handler = ({ request, response }) => {
    const query = queryOf(request);
    const reference = query.get('reference') ?? '';
    show(response, 'pms/views/launch-error.njk', {
      application,
      advice: adviceByReason.get(query.get('reason') ?? '') ?? 'Start again from the record.',
      // Anybody can link to this page, so only a GUID is shown.
      reference: guidForm.test(reference) ? reference : undefined,
      patientId: launches.get(reference)?.patientId,
    });
  };

  const takeDocument: Handler = async ({ request, response }) => {
    // A page of another site must not be able to add documents to the record.
    if (request.headers.origin !== new URL(publicUrl).origin)
      throw badRequest('Documents are accepted only from our own page');
    const body = await readJson(request, response, { types: ['application/json'], limitBytes: 262_144 });
    if (!returnedDocument.is(body) || !launches.has(body.launchId))
      throw badRequest('This document does not belong to any of our launches');
    const { launchId, orderGuid, document } = body;
    documents.file({ launchId, orderGuid, document }, 'page');
    sendStatus(response, 204);
  };

  const payloadOf = (wanted: Omit<SentLaunch, 'patientId'> & { patient: Patient }) => {
    const authoredOn = new Date(clock.now()).toISOString();
    return buildServiceRequest({ ...records, ...wanted, authoredOn }, dialect.namespaces);
  };

  function originatingIdFor(action: Action, patientId: string): string {
    const created = [...launches.values()].findLast(
      (sent) => sent.patientId === patientId && sent.action === 'OrderTest',
    );
    return actsOnExisting.includes(action) && created !== undefined
      ? created.originatingId
      : `HS-${randomUUID()}`;
  }

  return [
    simulated('/demo/pms', { GET: showRecord }),
    simulated('/demo/pms/launches', { POST: launch }),
    simulated('/demo/pms/launch-error', { GET: showLaunchError }),
    simulated('/demo/pms/documents', { POST: takeDocument }),
    ...callbacks.endpoints,
  ];
}

/** Returns the NHS number, which every patient of the demo has. */
const nhsNumberOf = ({ identifiers }: Patient) =>
  identifiers.find(({ system }) => system === 'nhs-number')?.value ?? 'none';
