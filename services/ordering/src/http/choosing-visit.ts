import { randomUUID } from 'node:crypto';
import type { Catalogue } from '../domain/catalogue.ts';
import { draftOf, emptyDraft } from '../domain/draft.ts';
import { draftIdOf } from '../domain/submission-id.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { draftOwnerKeyOf } from '../store/keys.ts';
import type { Choosing } from '../work/launch.ts';
import type { Visit } from './visit.ts';

/** A visit to the pages that choose tests: those of a new order, or of the change of a request. */
export type ChoosingVisit = Visit &
  Choosing & {
    /** The path of these pages, with a slash at the end. */
    readonly base: string;
  };

/** Returns the visit for the pages of a new order, which are the launch's home. It begins empty. */
export function toNewOrder(visit: Visit, catalogue: Catalogue): ChoosingVisit {
  const { launchId, home, context } = visit;
  const place = { launchId, target: launchId, ownerKey: draftOwnerKeyOf(context, catalogue.id) };
  return { ...visit, catalogue, place, beginning: emptyDraft(randomUUID()), base: home };
}

/** Returns the visit for the pages that change a request. */
export function toChange(visit: Visit, request: TestRequest, catalogue: Catalogue): ChoosingVisit {
  const { launchId, home } = visit;
  return {
    ...visit,
    catalogue,
    place: { launchId, target: request.guid },
    beginning: draftOf(request, draftIdOf(launchId, request)),
    base: `${home}requests/${request.guid}/tests/`,
    changed: request,
  };
}
