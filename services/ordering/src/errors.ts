import { type ErrorDialect, pageHeaders, ServiceError } from '@clinical-launch/service';
import type { Pages } from '@clinical-launch/service/pages';

/** There is no live launch session for this path: none was sent, it ended, or it belongs to another launch. */
export const sessionEnded = () =>
  new ServiceError({
    status: 401,
    code: 'session_ended',
    message: 'Your session has ended',
  });

/** A form that was posted from a page of another site. */
export const foreignForm = () =>
  new ServiceError({
    status: 403,
    code: 'foreign_form',
    message: 'This form was not sent from a page of this system',
  });

export const pageNotFound = () =>
  new ServiceError({ status: 404, code: 'not_found', message: 'There is no page at this address' });

/** A form with a button that no page of ours has. */
export const faultyForm = () =>
  new ServiceError({ status: 400, code: 'faulty_form', message: 'The form cannot be understood' });

/** What the reader of an error page can do. */
const advice: Readonly<Record<number, string>> = {
  401: 'Start again from your practice system.',
  403: 'Go back to your practice system and start again from there.',
  404: 'Go back to your practice system and start again from there.',
};

/** Errors as pages in the layout of the application. */
export function pageDialect(pages: Pages): ErrorDialect {
  return (error, { response, call }) => {
    const page = pages.render('message.njk', {
      title: error.message,
      text: advice[error.status] ?? 'Go back and try again.',
      correlationId: error.status === 401 ? undefined : call.correlationId,
    });
    const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });
    // What the page was going to be framed by still holds; the error itself says nothing to anyone.
    const policy = response.get('Content-Security-Policy') ?? headers['Content-Security-Policy'];
    response
      .set({ ...headers, 'Content-Security-Policy': policy })
      .type('html')
      .send(page);
  };
}
