import { redirect } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { cursorText } from '../../domain/audit-cursor.ts';
import { eventGroups } from '../../domain/event-words.ts';
import { presentEntry, shortPseudonym } from '../../present/entry-model.ts';
import { pagesOf } from '../../work/read-pages.ts';
import { sendLines } from '../search-events.ts';
import { addressNotReadable, pageNotFound } from './errors.ts';
import { patientSystems } from './patient-systems.ts';
import { addressFaults, type FormFault, fieldsOf, readSearchAddress, readSearchForm } from './search-form.ts';
import { type PagesDependencies, recordVisit, show, type Visit } from './visit.ts';

const pageSize = 50;
const limitBytes = 16 * 1024;

/**
 * Shows the search form, and the results of the search in the address, newest first: `GET /audit/`. All
 * criteria combine.
 */
export function showSearch(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { config, search, write } = dependencies;
    const query = queryOf(visit.request);
    const searched = readSearchAddress(query, config);
    const { names, after, unreadable } = searched;
    if (unreadable.length > 0) {
      for (const name of unreadable) query.delete(name);
      visit.response.statusCode = 400;
      return showForm(visit, dependencies, query, { faults: addressFaults(unreadable) });
    }
    if (names.length === 0) return showForm(visit, dependencies, query, {});
    await recordVisit(visit, dependencies, recordOf(searched));

    const { entries, next } = await search(searched.criteria, { after, limit: pageSize });
    query.delete('after');
    showForm(visit, dependencies, query, {
      isSearched: true,
      isLater: after !== undefined,
      entries: entries.map((entry) => presentEntry(entry, write)),
      newest: `/audit/?${query.toString()}#found`,
      exported: `/audit/export?${query.toString()}`,
      ...(next === undefined ? {} : { older: `/audit/?${query.toString()}&after=${cursorText(next)}#found` }),
    });
  };
}

const recordOf = ({ criteria, names }: ReturnType<typeof readSearchAddress>) => ({
  criteria: names,
  ...(criteria.correlationId === undefined ? {} : { searchedId: criteria.correlationId }),
  ...(criteria.patient === undefined ? {} : { patient: criteria.patient }),
});

/**
 * Sends all events that a search finds as a file (NDJSON): `GET /audit/export?…`, with the criteria of the
 * search's address.
 */
export function exportSearch(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const searched = readSearchAddress(queryOf(visit.request), dependencies.config);
    if (searched.unreadable.length > 0) throw addressNotReadable();
    if (searched.names.length === 0) throw pageNotFound();
    await recordVisit(visit, dependencies, { ...recordOf(searched), format: 'ndjson' });
    visit.response.setHeader('Content-Disposition', 'attachment; filename="audit-events.ndjson"');
    await sendLines(visit.response, pagesOf(dependencies.search, searched));
  };
}

/**
 * Reads the search form and redirects to its results: `POST /audit/`. A reference alone leads to its launch.
 */
export function search(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { config, pseudonyms } = dependencies;
    const form = await readForm(visit.request, visit.response, limitBytes);
    const { address, faults } = readSearchForm(form, { ...config, pseudonyms });
    if (faults.length > 0) {
      visit.response.statusCode = 400;
      return showForm(visit, dependencies, address, { faults });
    }
    const [only, ...more] = address;
    if (only === undefined) {
      visit.response.statusCode = 400;
      return showForm(visit, dependencies, address, { faults: [nothingEntered] });
    }
    const choice = await nameParties(address, dependencies.parties);
    if (choice !== undefined) return showForm(visit, dependencies, address, { choice });
    const isGuidAlone = only[0] === 'guid' && more.length === 0;
    redirect(
      visit.response,
      isGuidAlone ? `/audit/launches/${only[1]}` : `/audit/?${address.toString()}#found`,
    );
  };
}

/** A question which of several users or practices is meant, with the address of the results for each. */
type Choice = {
  readonly question: string;
  readonly answers: readonly { readonly text: string; readonly href: string }[];
};

/** A user or a practice that may be meant, and the parameters that name it exactly. */
type Meant = { readonly text: string; readonly exact: Readonly<Record<string, string>> };

/**
 * Replaces the names of a user and of a practice by the username and the code. Returns the question that is
 * left if several have the name.
 */
async function nameParties(
  address: URLSearchParams,
  parties: PagesDependencies['parties'],
): Promise<Choice | undefined> {
  const isUser = address.has('user');
  const meant = isUser ? await usersMeant(address, parties) : await practicesMeant(address, parties);
  const [first, ...more] = meant.map(({ text, exact }) => ({ text, address: withExact(address, exact) }));
  if (first === undefined) return undefined;
  if (more.length > 0) {
    const answers = [first, ...more].map((one) => ({
      text: one.text,
      href: `/audit/?${one.address.toString()}#found`,
    }));
    return { question: isUser ? 'Which user?' : 'Which practice?', answers };
  }
  for (const [name, value] of first.address) address.set(name, value);
  return undefined;
}

async function usersMeant(
  address: URLSearchParams,
  { users, practices }: PagesDependencies['parties'],
): Promise<Meant[]> {
  const found = await users(address.get('user') ?? '');
  const typed = address.get('practice');
  const codes = typed === null ? undefined : (await practices(typed)).map(({ practice }) => practice);
  return found
    .filter(({ practice }) => codes?.includes(practice) ?? true)
    .map(({ name, display, practice, practiceName }) => ({
      text: `${display} (${name}), ${practiceName}`,
      exact: { user: name, ...(codes === undefined ? {} : { practice }) },
    }));
}

async function practicesMeant(
  address: URLSearchParams,
  { practices }: PagesDependencies['parties'],
): Promise<Meant[]> {
  const typed = address.get('practice');
  const found = typed === null ? [] : await practices(typed);
  return found.map(({ practice, practiceName }) => ({
    text: `${practiceName} (${practice})`,
    exact: { practice },
  }));
}

function withExact(address: URLSearchParams, exact: Readonly<Record<string, string>>): URLSearchParams {
  const chosen = new URLSearchParams(address);
  for (const [name, value] of Object.entries(exact)) chosen.set(name, value);
  return chosen;
}

const nothingEntered: FormFault = { field: 'guid', message: 'Enter at least one thing to search for' };

function showForm(
  visit: Visit,
  dependencies: PagesDependencies,
  query: URLSearchParams,
  model: object,
): void {
  const fields = fieldsOf(query, dependencies.config);
  const patient = query.get('patient') ?? '';
  show(visit, dependencies, 'search.njk', {
    fields,
    patientSystems,
    eventGroups: Object.entries(eventGroups),
    ...(patient === '' ? {} : { patientShort: shortPseudonym(patient) }),
    ...model,
  });
}
