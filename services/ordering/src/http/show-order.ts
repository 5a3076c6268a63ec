import { launchSessionCookie, launchSessionCookieOptions } from '@clinical-launch/service';
import type { Catalogue } from '../domain/catalogue.ts';
import type { RequestedBatch } from '../domain/test-request.ts';
import { pageNotFound } from '../errors.ts';
import type { TestRequests } from '../store/test-requests.ts';
import type { Show } from './show.ts';
import type { VisitHandler } from './visit.ts';

type ShowOrderNeeds = {
  readonly catalogue: Catalogue;
  readonly testRequests: TestRequests;
  readonly show: Show;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
};

/**
 * `GET /oltr/{launchId}/orders/{guid}`: the result of the submission, with the hidden IFRAME `Notepad` for the PMS
 * (OLTR: Returned data). The order's own paths get the session too, and no other order's.
 */
export function showOrder({ catalogue, testRequests, show, isSecure }: ShowOrderNeeds): VisitHandler {
  return async (visit) => {
    const { request, response, launchId, context, ticket } = visit;
    const order = await testRequests.findByLaunch(launchId);
    if (order === undefined || order.guid !== request.params.guid) throw pageNotFound();
    const { frameAncestors, resultOrigin } = context.client;
    const isFramed = frameAncestors.length > 0;
    // A cookie's path ends at a slash, so the document beside the order's folder needs its own.
    for (const path of [`/orders/${order.guid}`, `/orders/${order.guid}.xml`]) {
      response.cookie(launchSessionCookie, ticket, launchSessionCookieOptions({ path, isSecure, isFramed }));
    }
    show(visit, 'submitted.njk', { order, draws: samplesToTake(order.batches, catalogue), resultOrigin });
  };
}

/** The samples of all batches in order of draw; a container that the catalogue no longer has comes last. */
function samplesToTake(batches: readonly RequestedBatch[], { containers }: Catalogue) {
  return batches
    .flatMap((batch) =>
      batch.samples
        .filter(({ container }) => container !== undefined)
        .map((sample) => ({
          description: sample.description,
          container: containers.get(sample.container ?? ''),
          location: batch.provider,
          reference: batch.orderReference,
          tests: batch.tests
            .filter((test) => test.sample === sample.id)
            .map(({ description }) => description),
        })),
    )
    .toSorted(
      (one, other) =>
        (one.container?.drawOrder ?? Number.MAX_SAFE_INTEGER) -
        (other.container?.drawOrder ?? Number.MAX_SAFE_INTEGER),
    );
}
