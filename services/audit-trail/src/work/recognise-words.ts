import { doubtOf } from '@clinical-launch/contracts/coded-identifiers';
import { guidForm } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { AuditCriteria, SearchAudit } from '../store/audit-search.ts';
import type { KnownParties } from '../store/known-parties.ts';

/** The typed text of a search by field. The text of `q` can mean anything. */
export type TypedWords = Readonly<Partial<Record<'q' | 'practice' | 'user' | 'client', string>>>;

export type Meaning = {
  /** Describes the meaning to the reader, who chooses between several meanings. */
  readonly text: string;
  /**
   * The parameters of the results' address: pseudonyms, sealed values and values from the log, never the
   * typed text.
   */
  readonly parameters: Readonly<Record<string, string>>;
};

export type RecognitionDependencies = {
  readonly search: SearchAudit;
  readonly parties: Pick<KnownParties, 'users' | 'practices'>;
  readonly pseudonyms: PatientPseudonyms;
  readonly sealIdentifier: (identifier: string) => string;
};

/**
 * Returns the possible meanings of all fields together. Returns no meaning if the log does not contain the
 * text of one of the fields. A meaning contains only pseudonyms, sealed values and values of the log, so it
 * may appear in an address.
 */
export async function recogniseWords(
  typed: TypedWords,
  dependencies: RecognitionDependencies,
): Promise<readonly Meaning[]> {
  const practices =
    typed.practice === undefined ? undefined : await practicesOf(typed.practice, dependencies);
  const codes = practices?.flatMap(({ parameters: { practice } }) => practice ?? []);
  const found = await Promise.all([
    typed.q === undefined ? undefined : anythingOf(typed.q, dependencies, codes),
    typed.user === undefined ? undefined : usersOf(typed.user, dependencies, codes),
    typed.client === undefined ? undefined : clientsOf(typed.client, dependencies),
  ]);
  return [practices, ...found].filter((meanings) => meanings !== undefined).reduce(combined);
}

/** Combines each pair of meanings that do not contradict each other. */
const combined = (some: readonly Meaning[], others: readonly Meaning[]): readonly Meaning[] =>
  some.flatMap((one) =>
    others.flatMap((other) => {
      const isContradiction = Object.entries(other.parameters).some(
        ([name, value]) => (one.parameters[name] ?? value) !== value,
      );
      const parameters = { ...one.parameters, ...other.parameters };
      return isContradiction ? [] : [{ text: `${other.text}, ${one.text}`, parameters }];
    }),
  );

/**
 * Returns whether a text is ten digits, with or without spaces and hyphens. It may be a patient's number, so
 * no address may contain it.
 */
const isPatientNumber = (text: string) => /^\d{10}$/.test(text.replaceAll(/[\s-]/g, ''));

async function anythingOf(
  text: string,
  dependencies: RecognitionDependencies,
  codes: readonly string[] | undefined,
): Promise<readonly Meaning[]> {
  const guid = text.toLowerCase().replaceAll(/[{}\s]/g, '');
  if (guidForm.test(guid)) return [{ text: 'The launch or request', parameters: { guid } }];
  if (isPatientNumber(text)) return patientsOf(text, dependencies);
  const kinds = [ordersOf, practicesOf, clientsOf, identifiersOf];
  const [users, ...others] = await Promise.all([
    usersOf(text, dependencies, codes),
    ...kinds.map((meaningsOf) => meaningsOf(text, dependencies)),
  ]);
  return [users, ...others].flat();
}

const numberNames = { 'nhs-number': 'NHS number', 'chi-number': 'CHI number' } as const;

async function patientsOf(
  value: string,
  { search, pseudonyms }: RecognitionDependencies,
): Promise<Meaning[]> {
  const systems = (['nhs-number', 'chi-number'] as const).filter(
    (system) => doubtOf({ system, value }) !== 'mistyped',
  );
  const found = await Promise.all(
    systems.map(async (system) => {
      const patient = pseudonyms.of({ system, value });
      const text = `The patient with this ${numberNames[system]}`;
      return (await newest(search, { patient })) === undefined ? [] : [{ text, parameters: { patient } }];
    }),
  );
  return found.flat();
}

async function ordersOf(text: string, { search }: RecognitionDependencies): Promise<Meaning[]> {
  for (const orderReference of new Set([text.toUpperCase(), text])) {
    const found = await newest(search, { orderReference });
    if (found !== undefined) return [{ text: `Order ${orderReference}`, parameters: { orderReference } }];
  }
  return [];
}

async function usersOf(
  text: string,
  { search, parties }: RecognitionDependencies,
  codes?: readonly string[],
): Promise<Meaning[]> {
  if (isPatientNumber(text)) return [];
  const known = (await parties.users(text)).filter(({ practice }) => codes?.includes(practice) ?? true);
  if (known.length > 0) {
    return known.map(({ name, display, practice, practiceName }) => {
      const isTwin = known.filter((other) => other.name === name).length > 1;
      const place = [practiceName, practice === '' ? '' : `(${practice})`].filter(Boolean).join(' ');
      return {
        text: `${display} (${name})${place === '' ? '' : `, ${place}`}`,
        parameters: { user: name, ...(isTwin && practice !== '' ? { practice } : {}) },
      };
    });
  }
  // No known user matches, so searches the log for a user with this username.
  return inLog('User', search, text, 'user');
}

async function practicesOf(text: string, { search, parties }: RecognitionDependencies): Promise<Meaning[]> {
  if (isPatientNumber(text)) return [];
  const known = new Map(
    (await parties.practices(text)).map(({ practice, practiceName }) => [practice, practiceName]),
  );
  if (known.size === 0) return inLog('Practice', search, text, 'practice');
  return [...known].map(([practice, name]) => ({ text: `${name} (${practice})`, parameters: { practice } }));
}

const clientsOf = async (text: string, { search }: RecognitionDependencies): Promise<Meaning[]> =>
  isPatientNumber(text) ? [] : inLog('Client', search, text, 'client');

/** Returns the party of the newest event that names it by exactly this text, as the log spells it. */
async function inLog(
  kind: string,
  search: SearchAudit,
  text: string,
  name: 'user' | 'practice' | 'client',
): Promise<Meaning[]> {
  const found = (await newest(search, { [name]: text }))?.[name] ?? undefined;
  return found === undefined ? [] : [{ text: `${kind} ${found}`, parameters: { [name]: found } }];
}

async function identifiersOf(
  text: string,
  { search, sealIdentifier }: RecognitionDependencies,
): Promise<Meaning[]> {
  if ((await newest(search, { identifier: text })) === undefined) return [];
  return [{ text: 'The caller’s own identifier', parameters: { identifier: sealIdentifier(text) } }];
}

const newest = async (search: SearchAudit, criteria: AuditCriteria) =>
  (await search(criteria, { limit: 1 })).entries[0];
