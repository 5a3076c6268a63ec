import type { Action } from '@clinical-launch/contracts/launch-context';
import { compileSchema, guidForm } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { sendStatus } from '@clinical-launch/http/answer';
import { readJson } from '@clinical-launch/http/body';
import type { Endpoint, Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { badRequest, getPatient, type Patient } from '../records.ts';
import { shownPatient, shownRecords } from '../shown-patient.ts';
import { type Simulation, simulated } from '../simulator.ts';
import { pmsCallbacks } from './callbacks.ts';
import { application, pmsLaunches } from './launches.ts';
import { ReturnedDocuments } from './returned-documents.ts';
import { shownOrder } from './shown-order.ts';

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
const adviceByReason = new Map([
  [
    'token_used',
    'It was opened before, and each launch opens once. If its window is still open, continue there. Otherwise, start again from the record.',
  ],
  ['token_unknown', 'It was not opened within ten seconds. Start again from the record.'],
  ['verifier_mismatch', 'Its address was not complete. Start again from the record.'],
]);

/**
 * Creates a small practice management system for the demo. Its backend requests a launch URL as any PMS does,
 * and the browser opens the URL. The order document is returned to the page and to the backend.
 */
export function pmsSimulator(simulation: Simulation): Endpoint[] {
  const { show, recorder, visits } = simulation;
  const { publicUrl } = simulation.config;
  const documents = new ReturnedDocuments();
  const launching = pmsLaunches(simulation, documents);
  const callbacks = pmsCallbacks(simulation, documents);
  const showRecord: Handler = ({ request, response }) => {
    const patient = getPatient(queryOf(request).get('patient'));
    const returned = documents
      .of(nhsNumberOf(patient))
      .map((one) => ({ ...one, order: shownOrder(one.document) }));
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

  const showLaunchError: Handler = ({ request, response }) => {
    const query = queryOf(request);
    const reference = query.get('reference') ?? '';
    show(response, 'pms/views/launch-error.njk', {
      application,
      advice: adviceByReason.get(query.get('reason') ?? '') ?? 'Start again from the record.',
      // Anybody can link to this page with any text, so it shows a reference only if the reference is a GUID.
      reference: guidForm.test(reference) ? reference : undefined,
      patientId: launching.find(reference)?.patientId,
    });
  };

  const takeDocument: Handler = async ({ request, response }) => {
    // A page of another site must not be able to add documents to the record.
    if (request.headers.origin !== new URL(publicUrl).origin)
      throw badRequest('Documents are accepted only from our own page');
    const body = await readJson({ request, response }, { types: ['application/json'], limitBytes: 262_144 });
    if (!returnedDocument.is(body) || launching.find(body.launchId) === undefined)
      throw badRequest('This document does not belong to any of our launches');
    const { launchId, orderGuid, document } = body;
    documents.file({ launchId, orderGuid, document }, 'page');
    const received = { sender: 'Browser', body: JSON.stringify(body), status: 204, reference: launchId };
    recorder.received(visits.find(launchId)?.exchanges ?? [], request, received);
    sendStatus(response, 204);
  };

  return [
    simulated('/demo/pms', { GET: showRecord }),
    ...launching.endpoints,
    simulated('/demo/pms/launch-error', { GET: showLaunchError }),
    simulated('/demo/pms/documents', { POST: takeDocument }),
    ...callbacks.endpoints,
  ];
}

const nhsNumberOf = ({ identifiers }: Patient) =>
  identifiers.find(({ system }) => system === 'nhs-number')?.value ?? 'none';
