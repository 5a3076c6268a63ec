import type { VisitHandler } from './launch-door.ts';
import { readLaunchForm } from './visit.ts';

/**
 * Answers 204 to a page that asks for more time: `POST /oltr/{launchId}/session`. The launch door has already
 * extended the session, as it does for every request.
 */
export const extendSession: VisitHandler = async (visit) => {
  await readLaunchForm(visit);
  visit.response.status(204).end();
};
