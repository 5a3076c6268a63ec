import { localDay } from '@clinical-launch/contracts/time';
import { sendText } from '@clinical-launch/http/answer';
import { launchSessionIdleSeconds } from '@clinical-launch/pages/launch-session';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { TestRequest } from '../domain/test-request.ts';
import { presentPageBanner } from '../present/patient-banner.ts';
import { captionOf } from '../present/request-caption.ts';
import { presentSession } from '../present/session-model.ts';
import type { Visit } from './visit.ts';

/** The content of a page, in addition to that of the launch. */
export type PageModel = {
  /** The request of the page; the page shows its patient. */
  readonly about?: TestRequest;
  /** The page is about a request that was not submitted yet. */
  readonly isNewRequest?: true;
  readonly [name: string]: unknown;
};

/** Sends a page of a launch: the template with its model, below the banner. */
export type Show = (visit: Visit & { readonly base?: string }, template: string, model: PageModel) => void;

type ShowDependencies = { readonly pages: Pages; readonly clock: Clock; readonly timeZone: string };

/** Prepares the pages of a launch. `timeZone` determines the current day. */
export function createShow({ pages, clock, timeZone }: ShowDependencies): Show {
  return (visit, template, model) => {
    const { response, context, rule, home, launchId, base = home } = visit;
    const now = clock.now();
    const today = localDay(now, timeZone);
    const session = presentSession(
      { idleSeconds: launchSessionIdleSeconds, lastSeconds: visit.session.endsInSeconds },
      { now, timeZone },
    );
    const banner = presentPageBanner(context.request, { rule, about: model.about, today });
    const { about, isNewRequest } = model;
    const caption =
      about === undefined
        ? isNewRequest && 'New request, not submitted'
        : captionOf(about, { now, timeZone });
    const page = pages.render(template, { caption, ...model, banner, session, home, base, launchId });
    sendText(response, 'text/html', page);
  };
}
