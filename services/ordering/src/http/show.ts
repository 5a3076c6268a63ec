import type { LaunchRequest } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import type { Pages } from '@clinical-launch/service/pages/templates';
import { localDay } from '../domain/local-time.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { type PatientBanner, presentBanner } from '../present/patient-banner.ts';
import type { Visit } from './visit.ts';

/** What a page shows beside what the launch gives it. */
export type PageModel = {
  /** The request that the page is about: its patient is the one that the page shows. */
  readonly about?: TestRequest;
  readonly [name: string]: unknown;
};

/** Sends a page of a launch: the template with its model, below the banner. */
export type Show = (visit: Visit & { readonly base?: string }, template: string, model: PageModel) => void;

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
  return (visit, template, model) => {
    const { response, home, launchId, base = home } = visit;
    const banner = bannerOf(visit, model.about, localDay(clock.now(), timeZone));
    response.type('html').send(pages.render(template, { ...model, banner, home, base, launchId }));
  };
}

/**
 * The patient of the launch stands on each of its pages. A launch for a whole practice has none of its own: there it
 * is the patient of the request that the page is about, and on a list nobody.
 */
function bannerOf(
  { context: { request }, rule }: Visit,
  about: TestRequest | undefined,
  today: string,
): PatientBanner | Pick<PatientBanner, 'author' | 'practice'> {
  const banner = presentBanner(shownRequest(request, about), today);
  if (rule.sees !== 'practice')
    return { ...banner, ...openedForAnother(banner, presentBanner(request, today)) };
  return about === undefined ? { author: banner.author, practice: banner.practice } : banner;
}

/** The patient whose record is open in the practice system, where the request has another name or date of birth. */
function openedForAnother(shown: PatientBanner, opened: PatientBanner): Pick<PatientBanner, 'openedFor'> {
  const isSame = shown.name === opened.name && shown.born === opened.born;
  return isSame ? {} : { openedFor: { name: opened.name, born: opened.born } };
}

function shownRequest(request: LaunchRequest, about: TestRequest | undefined): LaunchRequest {
  if (about === undefined) return request;
  const { patient, requester } = about.parties;
  return { ...request, patient, requester };
}
