import { sendText, setHeaders } from '@clinical-launch/http/answer';
import type { RefusalAudit } from '@clinical-launch/http/endpoint';
import { type ErrorDialect, ServiceError } from '@clinical-launch/http/errors';
import type { Pages } from '@clinical-launch/pages/templates';

/** Creates the error for an answer of the issuer that does not complete a sign-in of this browser. */
export const signInFailed = (cause?: unknown) =>
  new ServiceError({
    code: 'sign_in_failed',
    message: 'You could not be signed in',
    cause,
  });

/** Creates the error for a form sent from another site. */
export const foreignForm = () =>
  new ServiceError({ code: 'foreign_form', message: 'This form was sent from another website' });

/** Creates the error for a user without the right to read the audit trail. */
export const notAllowed = () =>
  new ServiceError({
    code: 'insufficient_scope',
    message: 'You may not read the audit trail',
  });

/** Creates the error for an address without a page. */
export const pageNotFound = () => new ServiceError({ code: 'not_found', message: 'Page not found' });

/** Creates the error for an address with invalid search criteria. */
export const addressNotReadable = () =>
  new ServiceError({
    code: 'invalid_request',
    message: 'The address contains a value that cannot be searched for',
  });

const titles: Readonly<Record<number, string>> = {
  405: pageNotFound().message,
  429: 'Too many requests in a short time',
};

const advice: Readonly<Record<string, string>> = {
  sign_in_failed: 'Open the audit trail again.',
  invalid_request: 'Open the audit trail again.',
  foreign_form: 'Nothing was searched. Open the audit trail and use the form there.',
  insufficient_scope:
    'Ask the person who manages user accounts in your organisation for the right “audit.read”. Then sign out and sign in again.',
  not_found: 'Check the address, or start again from the audit trail.',
  method_not_allowed: 'Check the address, or start again from the audit trail.',
  too_many_requests: 'Wait a few seconds, then reload this page.',
  temporarily_unavailable: 'Wait a moment, then reload this page.',
};

const audited: ReadonlySet<string> = new Set(['sign_in_failed', 'foreign_form', 'insufficient_scope']);

/** Creates the event `audit.refused.v1` for a failed sign-in, a missing right or another site's form. */
export function auditPageRefusal(clientId: string): RefusalAudit {
  return ({ status, code }, { call }) =>
    audited.has(code)
      ? call.event('audit.refused.v1', { status, reason: code, interface: 'pages', clientId })
      : undefined;
}

/** Creates the dialect that answers errors as pages. */
export function pageDialect(pages: Pages, headers: Readonly<Record<string, string>>): ErrorDialect {
  return (error, { response, call }) => {
    const page = pages.render('message.njk', {
      title: titles[error.status] ?? error.message,
      text: advice[error.code] ?? 'Try again. If it fails again, report the reference to the operator.',
      correlationId: call.correlationId,
      // Shows the button that signs out, because a user without the right may sign in as someone else.
      isSignedIn: error.code === 'insufficient_scope',
    });
    setHeaders(response, headers);
    sendText(response, 'text/html', page);
  };
}
