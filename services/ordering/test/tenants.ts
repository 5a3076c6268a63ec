import { randomUUID } from 'node:crypto';
import { practiceBindingOf } from '@clinical-launch/contracts/coded-identifiers';
import type { Action, LaunchContext, LaunchPatient } from '@clinical-launch/contracts/launch-context';
import type { LaunchPolicy } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import fc from 'fast-check';
import {
  type Application,
  aLaunchContext,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  press,
} from './launches.ts';

export type Client = Pick<LaunchContext['client'], 'issuer' | 'clientId'>;
export type Practice = LaunchContext['request']['practice'];

/** A client, a practice and a patient. Several clients may have the same practice and the same patient. */
export type Tenant = {
  readonly client: Client;
  readonly practice: Practice;
  readonly patient: LaunchPatient;
};

export type StoredOrder = Tenant & {
  readonly guid: string;
  readonly originatingId: string;
  /** The family name of the requester. No other order has a requester with this name. */
  readonly requester: string;
};

export type TenantLaunch = Tenant & {
  readonly action: Action;
  /** The practice binding of the client, in the format of the registry. */
  readonly practices: NonNullable<LaunchPolicy['practices']>;
};

const ours = 'https://launch.example.org/idp/demo/v2.0';

const demo: Client = { issuer: ours, clientId: 'pms-demo' };
const other: Client = { issuer: ours, clientId: 'pms-other' };
const clients = [demo, other, { ...demo, issuer: 'https://login.example.org' }];

const aPractice = (system: Practice['identifier']['system'], value: string): Practice => ({
  identifier: { system, value },
  name: 'Oak Lane Surgery',
});
const local = aPractice('local-org-code', '0042');
const practices = [
  aPractice('ods-organization-code', 'B82017'),
  aPractice('ods-organization-code', '0042'),
  local,
];

const aPatient = (...identifiers: LaunchPatient['identifiers']): LaunchPatient => ({
  ...aLaunchContext().request.patient,
  identifiers,
});
const hospital = { system: 'hospital-number', value: '42' } as const;
const patient = aPatient({ system: 'nhs-number', value: '9434765919' });
const patients = [
  patient,
  aPatient(hospital),
  aPatient({ system: 'nhs-number', value: '9434765919' }, hospital),
  aPatient({ system: 'nhs-number', value: '9434765870' }, hospital),
];

/** Every combination of client, practice and patient. */
export const tenants: Tenant[] = clients.flatMap((client) =>
  practices.flatMap((practice) => patients.map((patient) => ({ client, practice, patient }))),
);

/** Generates the practice binding of a client: any practice, or some practices including `own`. */
const arbitraryPractices = (own: Practice): fc.Arbitrary<TenantLaunch['practices']> =>
  fc.option(fc.subarray(practices), { nil: undefined }).map((also) => {
    if (also === undefined) return 'any';
    return [own, ...also].map(({ identifier: { system, value } }) => ({
      system: system === 'local-org-code' ? system : 'ods-organization-code',
      code: value.toLowerCase(),
    }));
  });

const launchOf = (tenant: Tenant, actions: readonly Action[]): fc.Arbitrary<TenantLaunch> =>
  fc
    .record({ action: fc.constantFrom(...actions), practices: arbitraryPractices(tenant.practice) })
    .map((stated) => ({ ...tenant, ...stated }));

/** Generates a launch with one of these actions for any tenant. */
export const arbitraryLaunch = (actions: readonly Action[]): fc.Arbitrary<TenantLaunch> =>
  fc.constantFrom(...tenants).chain((tenant) => launchOf(tenant, actions));

/**
 * Generates a launch, and another tenant whose order the launch tries to read. Both tenants often differ in
 * only one of client, practice and patient.
 */
export function arbitraryPair(
  actions: readonly Action[],
): fc.Arbitrary<{ readonly launch: TenantLaunch; readonly other: Tenant }> {
  const any = fc.constantFrom(...tenants);
  return any.chain((tenant) =>
    fc.record({
      launch: launchOf(tenant, actions),
      other: fc.oneof(fc.constantFrom(...tenants.filter((each) => differences(tenant, each) === 1)), any),
    }),
  );
}

/** Two clients that each have a practice with the local code 0042. One client opens its sample queue. */
export const namesakes: { readonly launch: TenantLaunch; readonly other: Tenant } = {
  launch: { client: other, practice: local, patient, action: 'LocationSampleQueue', practices: 'any' },
  other: { client: demo, practice: local, patient },
};

/**
 * Pairs of tenants. Each pair differs only in the patient, only in a patient with the same hospital number,
 * only in the practice, or only in the client.
 */
const neighbours: readonly (readonly [Tenant, Tenant])[] = [
  [0, 3],
  [2, 3],
  [0, patients.length],
  [1, 1 + practices.length * patients.length],
].flatMap(([own = 0, near = 0]) => {
  const [tenant, neighbour] = [tenants[own], tenants[near]];
  return tenant && neighbour ? [[tenant, neighbour] as const] : [];
});

/** Returns each action with each pair of neighbours, as examples that every run of a property includes. */
export const neighbouringLaunches = (actions: readonly Action[]) =>
  actions.flatMap((action) =>
    neighbours.map(([tenant, other]) => ({
      launch: { ...tenant, action, practices: 'any' as const },
      other,
    })),
  );

const differences = (one: Tenant, another: Tenant) =>
  [one.client !== another.client, one.practice !== another.practice, one.patient !== another.patient].filter(
    Boolean,
  ).length;

/**
 * Orders a test for a tenant through the pages. The form contains a reason, because the test may be a repeat
 * of an order of another tenant.
 */
export async function orderOf(
  application: Application,
  { client, practice, patient }: Tenant,
  { test, requester }: { test: string; requester: string },
): Promise<StoredOrder> {
  const { requester: someone } = aLaunchContext().request;
  const named = { ...someone, name: { family: requester, given: ['Edith'] } };
  const context = aLaunchContext({ client, request: { practice, patient, requester: named } });
  const launch = await chooseAndReview(application, [test], context);
  const [version = ''] = fieldValues(await launch.page('review'), 'version');
  const sent = await launch.post('review', [
    ['version', version],
    [`reason:${test}`, 'Asked by the specialist'],
    ['action', 'submit'],
  ]);
  const [, guid] = /orders\/(.*)$/.exec(sent.headers.get('location') ?? '') ?? [];
  if (guid === undefined) throw new Error(`The order was answered ${sent.status}`);
  application.clock.advance({ seconds: 60 });
  const { originatingId } = context.request;
  return { client, practice, patient, guid, originatingId, requester };
}

/** Adds a test to the favourites of a tenant's practice and saves an order set, through the page. */
export async function storeChoices(
  application: Application,
  tenant: Tenant,
  { code, set }: { code: string; set: string },
): Promise<void> {
  const { client, practice } = tenant;
  const launch = await application.openLaunch(aLaunchContext({ client, request: { practice } }));
  await press(launch, 'add-practice-favourites', { tick: [code] });
  await launch.post('', [
    ['set-name', set],
    ['action', 'save-set'],
  ]);
}

/** Opens a launch for a tenant; `originatingId` is the practice system's identifier of an order. */
export function openTenant(
  application: Application,
  { client, practice, patient, action, practices: stated }: TenantLaunch,
  originatingId: string = randomUUID(),
): Promise<OpenLaunch> {
  const binding = practiceBindingOf(stated);
  const bound = { ...client, ...withoutUndefined({ practices: binding }) };
  const request = { action, practice, patient, originatingId };
  return application.openLaunch(aLaunchContext({ client: bound, request }));
}
