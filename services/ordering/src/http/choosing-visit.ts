import { draftOf, emptyDraft } from '../domain/draft.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { BeginDraft, DraftPlace } from '../store/drafts.ts';
import type { Visit } from './visit.ts';

/** A visit to the pages that choose tests: those of a new order, or of the change of a request. */
export type ChoosingVisit = Visit & {
  readonly place: DraftPlace;
  readonly begin: BeginDraft;
  /** Where these pages are, with a slash at the end. */
  readonly base: string;
  /** The request that is changed; absent when it is a new order. */
  readonly changed?: TestRequest;
};

/** The visit as one to the pages of a new order, which are the launch's home. */
export function toNewOrder(visit: Visit): ChoosingVisit {
  const { launchId, home } = visit;
  return { ...visit, place: { launchId, target: launchId }, begin: emptyDraft, base: home };
}

/** The visit as one to the pages that change a request. */
export function toChange(visit: Visit, request: TestRequest): ChoosingVisit {
  const { launchId, home } = visit;
  return {
    ...visit,
    place: { launchId, target: request.guid },
    begin: draftOf(request),
    base: `${home}requests/${request.guid}/tests/`,
    changed: request,
  };
}
