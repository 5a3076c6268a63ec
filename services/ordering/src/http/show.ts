import type { Clock } from '@clinical-launch/service';
import type { Pages } from '@clinical-launch/service/pages';
import { presentBanner } from '../domain/patient-banner.ts';
import type { Visit } from './visit.ts';

/** Sends a page of a launch: the template with its model, below the patient's banner. */
export type Show = (visit: Visit, template: string, model: object) => void;

/** Prepares the pages of a launch. `timeZone` decides which day is today. */
export function createShow({
  pages,
  clock,
  timeZone,
}: {
  pages: Pages;
  clock: Clock;
  timeZone: string;
}): Show {
  // Swedish writes a day as YYYY-MM-DD.
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  return ({ response, context, home }, template, model) => {
    const banner = presentBanner(context.request, day.format(clock.now()));
    response.type('html').send(pages.render(template, { ...model, banner, home }));
  };
}
