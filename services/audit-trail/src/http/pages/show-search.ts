import { redirect } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { activityMeasures } from '../../domain/activity.ts';
import { type AuditEntry, cursorText } from '../../domain/audit-entry.ts';
import { eventGroups } from '../../domain/event-words.ts';
import { shortPseudonym } from '../../present/entry-model.ts';
import { presentFound } from '../../present/launch-model.ts';
import { pagesOf } from '../../work/read-pages.ts';
import { type Meaning, recogniseWords, type TypedWords } from '../../work/recognise-words.ts';
import { sendLines } from '../search-events.ts';
import { addressNotReadable, pageNotFound } from './errors.ts';
import {
  addressFaults,
  type FormFault,
  fieldsOf,
  readSearchAddress,
  readSearchForm,
  sealIdentifier,
  type TypedSearch,
} from './search-form.ts';
import { patientSystems } from './show-patients.ts';
import { type PagesDependencies, recordVisit, show, type Visit } from './visit.ts';

const pageSize = 50;
/** More events than the launches of a page usually have. */
const mostEvents = 2000;
const limitBytes = 16 * 1024;

/**
 * Shows the search form, and the results of the search in the address, newest first: `GET /audit/`. Results
 * match all criteria.
 */
export function showSearch(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { config, clock, search, readLaunches, write } = dependencies;
    const query = queryOf(visit.request);
    const searched = readSearchAddress(query, { ...config, now: clock.now() });
    const { names, after, unreadable } = searched;
    if (unreadable.length > 0) {
      for (const name of unreadable) query.delete(name);
      visit.response.statusCode = 400;
      return showForm(visit, dependencies, query, { faults: addressFaults(unreadable) });
    }
    if (names.length === 0) return showForm(visit, dependencies, query, {});
    await recordVisit(visit, dependencies, searched);

    const { entries, next } = await search(searched.criteria, { after, limit: pageSize });
    const found = Map.groupBy(entries, launchOf);
    const events = Map.groupBy(await readLaunches([...found.keys()], mostEvents), launchOf);
    query.delete('after');
    showForm(visit, dependencies, query, {
      isSearched: true,
      isLater: after !== undefined,
      launches: [...found].map(([guid, matching]) =>
        // Without all its events, the outcome is that of the matching events.
        presentFound({ guid, matching, entries: events.get(guid) ?? matching }, clock.now(), write),
      ),
      newest: `/audit/?${query.toString()}#found`,
      exported: `/audit/export?${query.toString()}`,
      ...(next === undefined ? {} : { older: `/audit/?${query.toString()}&after=${cursorText(next)}#found` }),
    });
  };
}

/**
 * Sends all events of a search as a file (NDJSON): `GET /audit/export?…`, with the same criteria as the
 * address of the search.
 */
export function exportSearch(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { config, clock } = dependencies;
    const searched = readSearchAddress(queryOf(visit.request), { ...config, now: clock.now() });
    if (searched.unreadable.length > 0) throw addressNotReadable();
    if (searched.names.length === 0) throw pageNotFound();
    await recordVisit(visit, dependencies, { ...searched, format: 'ndjson' });
    visit.response.setHeader('Content-Disposition', 'attachment; filename="audit-events.ndjson"');
    await sendLines(visit.response, pagesOf(dependencies.search, searched));
  };
}

/**
 * Reads the search form, recognises its text, and redirects to the results: `POST /audit/`. If the form
 * contains only a GUID, redirects to the page of that launch. Answers unknown or ambiguous text with a page
 * instead of a redirect, because no address may contain the text.
 */
export function search(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { config, pseudonyms, clock } = dependencies;
    const form = await readForm(visit, limitBytes);
    const typed = readSearchForm(form, { ...config, pseudonyms, now: clock.now() });
    const { words, address, faults } = typed;
    const hasWords = Object.keys(words).length > 0;
    if (faults.length > 0 || (!hasWords && address.size === 0)) {
      visit.response.statusCode = 400;
      return showForm(visit, dependencies, typed, { faults: faults.length > 0 ? faults : [nothingEntered] });
    }
    const sealing = { sealIdentifier: (identifier: string) => sealIdentifier(identifier, config) };
    const meanings = hasWords ? await recogniseWords(words, { ...dependencies, ...sealing }) : [noWords];
    const [first, ...more] = meanings.map((meaning) => ({ ...meaning, href: hrefOf(address, meaning) }));
    if (first !== undefined && more.length === 0) return redirect(visit.response, first.href);
    await recordVisit(visit, dependencies, { names: [...Object.keys(words), ...address.keys()] });
    showForm(
      visit,
      dependencies,
      typed,
      first === undefined ? { isUnknown: true } : { choices: [first, ...more] },
    );
  };
}

const noWords: Meaning = { text: '', parameters: {} };
const nothingEntered: FormFault = { field: 'q', message: 'Enter something to search for' };

/**
 * Returns the address of the results for a meaning. If the meaning contains a GUID and the form has no other
 * criteria, returns the address of the page of that launch or request.
 */
function hrefOf(address: URLSearchParams, { parameters }: Meaning): string {
  if (parameters['guid'] !== undefined && address.size === 0) return `/audit/launches/${parameters['guid']}`;
  const query = new URLSearchParams(address);
  for (const [name, value] of Object.entries(parameters)) query.set(name, value);
  return `/audit/?${query.toString()}#found`;
}

/** Returns the GUID of the launch that an event belongs to, or of its request. */
const launchOf = ({ launchId, correlationId }: AuditEntry): string => launchId ?? correlationId;

function showForm(
  visit: Visit,
  dependencies: PagesDependencies,
  shown: URLSearchParams | Pick<TypedSearch, 'words' | 'address'>,
  model: { readonly faults?: readonly FormFault[]; readonly [name: string]: unknown },
): void {
  const { words, address } =
    shown instanceof URLSearchParams ? { words: {} as TypedWords, address: shown } : shown;
  const fields = fieldsOf(address, dependencies.config);
  const patient = address.get('patient') ?? '';
  const { q: _box, ...moreWords } = words;
  show(visit, dependencies, 'search.njk', {
    fields: { ...fields, ...words },
    isMoreOpen:
      fields.hasMore ||
      Object.keys(moreWords).length > 0 ||
      (model.faults ?? []).some(({ field }) => field !== 'q'),
    patientSystems,
    eventGroups: Object.entries(eventGroups),
    measures: Object.entries(activityMeasures),
    ...(patient === '' ? {} : { patientShort: shortPseudonym(patient) }),
    ...model,
  });
}
