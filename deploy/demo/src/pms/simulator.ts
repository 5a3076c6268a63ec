import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Action, actions, compileSchema, type LaunchRequest } from '@clinical-launch/contracts';
import {
  buildServiceRequest,
  createPmsClient,
  LaunchRefused,
  type PmsClient,
  TokenRefused,
} from '@clinical-launch/pms-client';
import {
  type Clock,
  callOf,
  createRouter,
  type Environment,
  pageHeaders,
  readEnvironment,
  readForm,
  readJson,
  type Service,
  ServiceError,
} from '@clinical-launch/service';
import { createAssetsRouter, createPages } from '@clinical-launch/service/pages';
import type { RequestHandler } from 'express';
import { Type } from 'typebox';

export type PmsSimulatorConfig = {
  /** The platform's address as browsers see it; only its pages may return a document. */
  readonly publicUrl: string;
  /** The platform's address as this backend reaches it. */
  readonly platformUrl: string;
};

const environmentSchema = Type.Object({
  PUBLIC_URL: Type.String({ pattern: '^https?://[^/?#\\s]+$', description: 'must be an origin' }),
  PLATFORM_URL: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'must be an http or https address' }),
  ),
});

/** Reads the simulator's configuration. @throws ConfigurationError that names the faulty variables. */
export function readPmsSimulatorConfig(environment: Environment): PmsSimulatorConfig {
  const { PUBLIC_URL, PLATFORM_URL } = readEnvironment(environmentSchema, environment);
  return Object.freeze({ publicUrl: PUBLIC_URL, platformUrl: PLATFORM_URL ?? PUBLIC_URL });
}

type Records = Omit<LaunchRequest, 'action' | 'originatingId' | 'authoredOn' | 'patient'> & {
  readonly patients: readonly (LaunchRequest['patient'] & { readonly id: string })[];
};

type ReturnedDocument = { readonly launchId: string; readonly orderGuid: string; readonly document: string };

/** What the PMS remembers of a launch that it asked for. */
type SentLaunch = { readonly patientId: string; readonly action: Action; readonly originatingId: string };

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const records = JSON.parse(readFileSync(here('./patients.json'), 'utf8')) as Records;

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
/** These open the request that an earlier launch of the same originating id created. */
const actsOnExisting: readonly Action[] = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'];
const rememberedLaunches = 200;

/**
 * A small practice management system, for the demo: its backend asks for a launch URL as any PMS's would, the
 * browser opens it, and the page takes the order document that comes back.
 */
export function pmsSimulator(
  { publicUrl, platformUrl }: PmsSimulatorConfig,
  { clock }: { clock: Clock },
): Service {
  const pages = createPages(here('./views'));
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });
  const launches = new Map<string, SentLaunch>();
  const documents: ReturnedDocument[] = [];
  const client = createPmsClient({
    baseUrl: platformUrl,
    tokenUrl: `${platformUrl}/idp/demo/oauth2/v2.0/token`,
    clientId: 'pms-demo',
    clientSecret: 'pms-demo-secret',
    scope: 'api://clinical-launch/.default',
    now: () => clock.now(),
  });

  const showRecord: RequestHandler = (request, response) => {
    const query = new URL(request.originalUrl, publicUrl).searchParams;
    const patient = findPatient(query.get('patient') ?? records.patients[0]?.id);
    const ofPatient = documents.filter(({ launchId }) => launches.get(launchId)?.patientId === patient.id);
    const model = { records, patient, actionLabels, publicUrl, returned: ofPatient.toReversed() };
    response.set(headers).type('html').send(pages.render('record.njk', model));
  };

  const launch: RequestHandler = async (request, response) => {
    const form = await readForm(request, response);
    const patient = findPatient(form.get('patient') ?? undefined);
    const action = actions.find((name) => name === form.get('action'));
    if (action === undefined) throw badRequest('There is no such action');
    const originatingId = originatingIdFor(action, patient.id);
    try {
      const { url, correlationId } = await requestLaunch(client, { action, originatingId, patient, clock });
      remember(correlationId, { patientId: patient.id, action, originatingId });
      response.set(headers).redirect(303, url);
    } catch (error) {
      if (!(error instanceof LaunchRefused || error instanceof TokenRefused)) throw error;
      callOf(response).logger.warn({ err: error }, 'the launch was refused');
      response.status(502).set(headers).type('html').send(pages.render('refused.njk', { error, patient }));
    }
  };

  const takeDocument: RequestHandler = async (request, response) => {
    // A page of another site must not be able to put documents into the record.
    if (request.get('origin') !== new URL(publicUrl).origin)
      throw badRequest('Documents are taken from our own page');
    const body = await readJson(request, response, { types: ['application/json'], limitBytes: 262_144 });
    if (!returnedDocument.is(body) || !launches.has(body.launchId))
      throw badRequest('This is no document of our launches');
    const known = documents.findIndex(({ orderGuid }) => orderGuid === body.orderGuid);
    if (known >= 0) documents.splice(known, 1);
    documents.push(body);
    response.status(204).end();
  };

  function originatingIdFor(action: Action, patientId: string): string {
    const created = [...launches.values()].findLast(
      (sent) => sent.patientId === patientId && sent.action === 'OrderTest',
    );
    return actsOnExisting.includes(action) && created !== undefined
      ? created.originatingId
      : `HS-${randomUUID()}`;
  }

  function remember(launchId: string, sent: SentLaunch): void {
    launches.set(launchId, sent);
    const [oldest] = launches.keys();
    if (launches.size > rememberedLaunches && oldest !== undefined) launches.delete(oldest);
    if (documents.length > rememberedLaunches) documents.shift();
  }

  const router = createRouter();
  router.get('/', (_request, response) => response.redirect(302, '/demo/pms'));
  router.get('/demo/pms', showRecord);
  router.post('/demo/pms/launches', launch);
  router.post('/demo/pms/documents', takeDocument);
  router.use('/demo/pms/assets', createAssetsRouter(here('./public')));
  return { name: 'pms-simulator', router };
}

function requestLaunch(
  client: PmsClient,
  {
    action,
    originatingId,
    patient,
    clock,
  }: Omit<SentLaunch, 'patientId'> & { patient: Records['patients'][number]; clock: Clock },
) {
  const authoredOn = new Date(clock.now()).toISOString();
  return client.requestLaunch(
    buildServiceRequest({ ...records, action, originatingId, authoredOn, patient }),
  );
}

function findPatient(id: string | undefined) {
  const patient = records.patients.find((candidate) => candidate.id === id);
  if (patient === undefined) throw badRequest('There is no such patient');
  return patient;
}

const badRequest = (message: string) => new ServiceError({ status: 400, code: 'invalid_request', message });
