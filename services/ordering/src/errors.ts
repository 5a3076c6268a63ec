import { type ErrorDialect, ServiceError } from '@clinical-launch/service/http';
import { pageHeaders } from '@clinical-launch/service/pages';
import type { Pages } from '@clinical-launch/service/pages/templates';

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

/** A form that was made for another launch: its patient may be another one. */
export const formOfAnotherLaunch = () =>
  new ServiceError({
    status: 409,
    code: 'form_of_another_launch',
    message: 'This form belongs to another patient’s window. Nothing was changed',
  });

/** What the launch's action does not allow, whatever the form says (OLTR: Action definitions). */
export const notOfThisAction = () =>
  new ServiceError({
    status: 403,
    code: 'not_of_this_action',
    message: 'This was opened for something else. Nothing was changed',
  });

/** A launch that orders tests of a laboratory of which there is no catalogue. */
export const noCatalogueOfLaboratory = () =>
  new ServiceError({
    status: 404,
    code: 'no_catalogue',
    message: 'You cannot order tests from this laboratory here',
  });

export const pageNotFound = () =>
  new ServiceError({ status: 404, code: 'not_found', message: 'There is no page at this address' });

/** There is no such request, or it is not one that this launch sees; the answer does not say which. */
export const requestNotFound = () =>
  new ServiceError({
    status: 404,
    code: 'request_not_found',
    message: 'There is no such request here',
  });

/** OLTR: Request status. Complete is immutable. */
export const requestComplete = () =>
  new ServiceError({
    status: 409,
    code: 'request_complete',
    message: 'This request was submitted to the laboratory and cannot be changed any more',
  });

/** A browser that fetches ahead of its user: what it is given might be read later, and nobody would know. */
export const speculativeReading = () =>
  new ServiceError({
    status: 400,
    code: 'speculative_request',
    message: 'This page is not shown ahead of time',
  });

/** A form with a button that no page of ours has. */
export const faultyForm = () =>
  new ServiceError({ status: 400, code: 'faulty_form', message: 'The form cannot be understood' });

/** What the reader of an error page can do. */
const advice: Readonly<Record<number, string>> = {
  401: 'Start again from your practice system.',
  403: 'Go back to your practice system and start again from there.',
  404: 'Go back to your practice system and start again from there.',
  409: 'Close this page and look at the request again from your practice system.',
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
