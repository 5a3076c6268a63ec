import { guidForm } from '@clinical-launch/contracts/schema';
import { type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { presentLaunch } from '../../present/launch-model.ts';
import { pageNotFound } from './errors.ts';
import { type PagesDependencies, recordVisit, show, type Visit } from './visit.ts';

const mostEvents = 500;

/** Shows the events of a launch or a request: `GET /audit/launches/{guid}`. */
export function showLaunch(dependencies: PagesDependencies): Handler<Visit> {
  return async (visit) => {
    const { search, clock, write } = dependencies;
    const guid = textParameter(visit, 'guid').toLowerCase();
    if (!guidForm.test(guid)) throw pageNotFound();
    await recordVisit(visit, dependencies, { searchedId: guid, criteria: ['correlationId'] });
    const { entries, next } = await search({ correlationId: guid }, { limit: mostEvents });
    if (entries.length === 0) {
      visit.response.statusCode = 404;
      return show(visit, dependencies, 'not-found.njk', { guid });
    }
    const now = clock.now();
    const model = presentLaunch({ guid, entries, now, write, isCut: next !== undefined });
    show(visit, dependencies, 'launch.njk', model);
  };
}
