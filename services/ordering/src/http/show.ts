import { localDay, type WriteTime, writtenDate } from '@clinical-launch/contracts/time';
import { sendText } from '@clinical-launch/http/answer';
import { launchSessionIdleSeconds } from '@clinical-launch/pages/launch-session';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Clock } from '@clinical-launch/runtime/clock';
import { listed } from '../domain/panels.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { presentSession, presentWindow } from '../present/lock-model.ts';
import { presentPageBanner } from '../present/patient-banner.ts';
import { captionOf, referencesOf } from '../present/request-caption.ts';
import type { OtherBirths } from '../store/test-requests.ts';
import type { Visit } from './visit.ts';

/** The model of a page, to which `Show` adds the patient banner and the session. */
export type PageModel = {
  readonly about?: TestRequest;
  /** Whether the page is about a new order that is not submitted yet. */
  readonly isNewRequest?: true;
  /** The requests that the page does not offer, because they are for a person with another date of birth. */
  readonly otherBirths?: OtherBirths | undefined;
  readonly [name: string]: unknown;
};

/** Renders a template with its model below the banner, and sends the page. */
export type Show = (visit: Visit & { readonly base?: string }, template: string, model: PageModel) => void;

type ShowDependencies = {
  readonly pages: Pages;
  readonly clock: Clock;
  readonly timeZone: string;
  readonly write: WriteTime;
};

/** Creates `Show`. `timeZone` determines the current day, on which the patient's age depends. */
export function createShow({ pages, clock, timeZone, write }: ShowDependencies): Show {
  return (visit, template, model) => {
    const { response, context, rule, home, launchId, base = home } = visit;
    const now = clock.now();
    const today = localDay(now, timeZone);
    const session = presentSession(
      { idleSeconds: launchSessionIdleSeconds, lastSeconds: visit.session.endsInSeconds },
      { now, timeZone },
    );
    const banner = presentPageBanner(context.request, { rule, about: model.about, today });
    const { about, isNewRequest, otherBirths } = model;
    const caption =
      about === undefined
        ? isNewRequest && 'New request, not submitted'
        : captionOf(about, { now, timeZone });
    const shared = {
      banner,
      session,
      home,
      base,
      launchId,
      reference: about && listed(referencesOf(about)),
      otherBirths: otherBirths && { ...otherBirths, own: otherBirths.own.map(writtenDate) },
      ...presentWindow(visit.window, { write }),
    };
    const page = pages.render(template, { caption, ...model, ...shared });
    sendText(response, 'text/html', page);
  };
}
