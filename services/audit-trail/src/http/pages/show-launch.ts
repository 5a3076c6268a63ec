import { guidForm, withoutUndefined } from '@clinical-launch/contracts/schema';
import { type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { presentActivity } from '../../present/activity-model.ts';
import { presentLaunch } from '../../present/launch-model.ts';
import { pageNotFound } from './errors.ts';
import { type PatientFields, patientSystems, readPatient } from './show-patients.ts';
import { type PagesDependencies, recordVisit, show, type Visit } from './visit.ts';

const mostEvents = 500;

/** Shows the events of a launch or a request: `GET /audit/launches/{guid}`. */
export const showLaunch =
  (dependencies: PagesDependencies): Handler<Visit> =>
  (visit) =>
    showEvents(visit, dependencies, { patientSystems });

/**
 * Shows the events of a launch, and whether the launch and each of its orders were about a patient: `POST
 * /audit/launches/{guid}`. No address and no store contains the identifier of the patient.
 */
export const comparePatient =
  (dependencies: PagesDependencies): Handler<Visit> =>
  async (visit) =>
    showEvents(visit, dependencies, await readPatient(visit, dependencies));

async function showEvents(
  visit: Visit,
  dependencies: PagesDependencies,
  { pseudonym: patient, faults: patientFaults, ...fields }: PatientFields,
): Promise<void> {
  const { search, clock, write } = dependencies;
  const guid = textParameter(visit, 'guid').toLowerCase();
  if (!guidForm.test(guid)) throw pageNotFound();
  const names = ['correlationId', ...(patient === undefined ? [] : ['patient'])];
  const criteria = { correlationId: guid, ...withoutUndefined({ patient }) };
  await recordVisit(visit, dependencies, { criteria, names });
  const { entries, next } = await search({ correlationId: guid }, { limit: mostEvents });
  if (entries.length === 0) {
    visit.response.statusCode = 404;
    return show(visit, dependencies, 'not-found.njk', { guid });
  }
  const now = clock.now();
  const model = presentLaunch({ guid, entries, now, write, isCut: next !== undefined, patient });
  show(visit, dependencies, 'launch.njk', { ...fields, patientFaults, ...model });
}

const periods = [
  { hours: 1, intervalMinutes: 5, text: 'Last hour' },
  { hours: 6, intervalMinutes: 30, text: 'Last 6 hours' },
  { hours: 24, intervalMinutes: 60, text: 'Last 24 hours' },
] as const;
const [shortest] = periods;
const minuteMs = 60_000;

/** Shows the activity of the last hours: `GET /audit/activity?hours=6`. */
export function showActivity(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { config, clock, readActivity, write } = dependencies;
    const wanted = Number(queryOf(visit.request).get('hours') ?? shortest.hours);
    const period = periods.find(({ hours }) => hours === wanted) ?? shortest;
    const intervalMs = period.intervalMinutes * minuteMs;
    const now = clock.now();
    // The last interval is the current interval. It starts at a round time of day.
    const last = Math.floor(now / intervalMs) * intervalMs;
    const count = (period.hours * 60) / period.intervalMinutes;
    const begins = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * intervalMs);
    const from = begins[0] ?? last;
    await recordVisit(visit, dependencies, { names: ['from', 'to'] });
    const { intervalMinutes } = period;
    const rows = await readActivity({ from: new Date(from), now: new Date(now), intervalMinutes });
    show(visit, dependencies, 'activity.njk', {
      periods: periods.map(({ hours, text }) => ({ hours, text, isCurrent: hours === period.hours })),
      from: write(from),
      until: write(now),
      intervalMinutes,
      ...presentActivity({ rows, begins, intervalMs, now, timeZone: config.timeZone }),
    });
  };
}
