import { localDay } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import type { Pages } from '@clinical-launch/service/pages/templates';
import type { TestRequest } from '../domain/test-request.ts';
import { presentPageBanner } from '../present/patient-banner.ts';
import type { Visit } from './visit.ts';

/** What a page shows beside what the launch gives it. */
export type PageModel = {
  /** The request that the page is about: its patient is the one that the page shows. */
  readonly about?: TestRequest;
  readonly [name: string]: unknown;
};

/** Sends a page of a launch: the template with its model, below the banner. */
export type Show = (visit: Visit & { readonly base?: string }, template: string, model: PageModel) => void;

type ShowDependencies = { readonly pages: Pages; readonly clock: Clock; readonly timeZone: string };

/** Prepares the pages of a launch. `timeZone` decides which day is today. */
export function createShow({ pages, clock, timeZone }: ShowDependencies): Show {
  return (visit, template, model) => {
    const { response, context, rule, home, launchId, base = home } = visit;
    const today = localDay(clock.now(), timeZone);
    const banner = presentPageBanner(context.request, { rule, about: model.about, today });
    response.type('html').send(pages.render(template, { ...model, banner, home, base, launchId }));
  };
}
