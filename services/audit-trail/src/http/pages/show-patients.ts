import {
  doubtOf,
  identifierFault,
  type PatientIdentifierSystem,
} from '@clinical-launch/contracts/coded-identifiers';
import { isOfNobody } from '@clinical-launch/crypto/patient-pseudonym';
import { redirect } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import { type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { isPseudonym } from '../../domain/search-values.ts';
import { presentParties, shortPseudonym } from '../../present/entry-model.ts';
import type { WriteTime } from '../../present/written-time.ts';
import { whoHasSeen } from '../../work/who-has-seen.ts';
import { pageNotFound } from './errors.ts';
import type { FormFault } from './search-form.ts';
import { type PagesDependencies, recordVisit, show, type Visit } from './visit.ts';

/** Shows the form “Who has seen this patient”: `GET /audit/patients`. */
export function showPatients(dependencies: PagesDependencies): Handler<Visit> {
  return (visit) => show(visit, dependencies, 'patients.njk', { patientSystems });
}

/**
 * Reads the identifier of a patient and redirects to the page that shows who has seen the patient: `POST
 * /audit/patients`. Replaces the identifier with a pseudonym at once, so that no address and no store
 * contains the identifier.
 */
export function searchPatient(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { pseudonym, ...typed } = await readPatient(visit, dependencies);
    if (pseudonym === undefined) return show(visit, dependencies, 'patients.njk', typed);
    redirect(visit.response, `/audit/patients/${pseudonym}`);
  };
}

/** The fields of a patient's identifier, and the pseudonym or the faults of what was typed. */
export type PatientFields = {
  readonly patientSystems: typeof patientSystems;
  readonly system?: PatientIdentifierSystem;
  readonly pseudonym?: string;
  readonly faults?: readonly FormFault[];
};

/**
 * Reads the identifier of a patient from a form, and replaces it with a pseudonym at once. For a fault, sets
 * the status 400.
 */
export async function readPatient(
  visit: Visit,
  { pseudonyms }: Pick<PagesDependencies, 'pseudonyms'>,
): Promise<PatientFields> {
  const form = await readForm(visit, 4096);
  const value = (form.get('patientValue') ?? '').trim().slice(0, 200);
  const known = patientSystems.find((system) => system.value === form.get('patientSystem'));
  if (known === undefined) throw pageNotFound();
  const fields = { patientSystems, system: known.value };
  const fault = faultOf(known, value);
  if (fault === undefined) return { ...fields, pseudonym: pseudonyms.of({ system: known.value, value }) };
  visit.response.statusCode = 400;
  return { ...fields, faults: [fault] };
}

/**
 * Returns the fault of a typed identifier. For a mistyped NHS number, the page would state that nobody has
 * seen the patient.
 */
function faultOf(system: (typeof patientSystems)[number], value: string): FormFault | undefined {
  const field = 'patientValue';
  if (value === '') return { field, message: `Enter the ${system.text}` };
  const identifier = { system: system.value, value };
  if (doubtOf(identifier) !== 'mistyped') return undefined;
  return { field, message: `Check the number. It ${identifierFault(identifier)}` };
}

/** Shows who has seen a patient: `GET /audit/patients/{pseudonym}`. */
export function showPatient(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { search, write } = dependencies;
    const pseudonym = textParameter(visit, 'pseudonym');
    if (!isPseudonym(pseudonym)) throw pageNotFound();
    await recordVisit(visit, dependencies, { criteria: { patient: pseudonym }, names: ['patient'] });
    const seen = await whoHasSeen(search, pseudonym);
    show(visit, dependencies, 'patient.njk', {
      patient: shortPseudonym(pseudonym),
      isNobody: isOfNobody(pseudonym),
      eventsHref: `/audit/?patient=${pseudonym}`,
      ...presentPatientAccesses(seen, write),
    });
  };
}

/** Returns the model of the list of users who have seen a patient. */
const presentPatientAccesses = (
  { accesses, isCut }: Awaited<ReturnType<typeof whoHasSeen>>,
  write: WriteTime,
) => ({
  isCut,
  people: accesses.map(({ first, last, counts, ...parties }) => ({
    ...presentParties(parties),
    first: write(first),
    last: write(last),
    isOnce: first.getTime() === last.getTime(),
    counts: [...counts].map(([what, count]) => (count === 1 ? what : `${what}, ${count} times`)),
    total: [...counts.values()].reduce((sum, count) => sum + count, 0),
  })),
});

export const patientSystems: readonly { readonly value: PatientIdentifierSystem; readonly text: string }[] = [
  { value: 'nhs-number', text: 'NHS number' },
  { value: 'chi-number', text: 'CHI number' },
  { value: 'gha-number', text: 'GHA number' },
  { value: 'ssn-number', text: 'Social security number' },
  { value: 'hospital-number', text: 'Hospital number' },
];
