import type { IncomingMessage } from 'node:http';
import { withParameters } from '@clinical-launch/contracts/addresses';
import { parseLaunchNotice } from '@clinical-launch/contracts/launch-context';
import { sendStatus } from '@clinical-launch/http/answer';
import { type ErrorDialect, problemDialect, type ServiceError } from '@clinical-launch/http/errors';
import { isForDocument } from '@clinical-launch/http/request-target';
import type { LaunchGatewayConfig } from '../config.ts';

type Shown = {
  /** The GUID by which support can find the refusal. */
  readonly reference: string;
  /** The code of the refusal (docs/reference/errors.md). */
  readonly reason: string;
};

/**
 * Returns the headers that redirect a browser to the error page of the launch's client, with the reference
 * and the reason in its query. Returns no headers if the client registered no page, or if the request is not
 * a navigation. The address comes from the launch itself, never from the request.
 */
export function toErrorPage(
  request: IncomingMessage,
  notice: unknown,
  { reference, reason }: Shown,
): Readonly<Record<string, string>> {
  const { errorPage } = parseLaunchNotice(notice ?? {});
  if (errorPage === undefined || !isNavigation(request)) return {};
  return {
    Location: withParameters(errorPage, { reference, reason }),
    'Referrer-Policy': 'no-referrer',
  };
}

/**
 * Returns the same reason for every 401 to a whole request, so that the answer does not reveal whether a launch
 * token is valid.
 */
const reasonOf = ({ status, code }: ServiceError) =>
  status === 401 && code !== 'missing_parameter' ? 'not_valid' : code;

/**
 * Creates the dialect of error answers. A refusal with a `Location` becomes a redirect (RFC 9110 section
 * 15.4.4), and every other refusal is answered without a body. Logs, events and metrics contain the status of
 * the refusal, not 303.
 */
export function launchDialect(config: LaunchGatewayConfig): ErrorDialect {
  const problem = problemDialect({ ...config, reasonOf });
  return (error, exchange) => {
    if (error.headers.Location === undefined) return problem(error, exchange);
    sendStatus(exchange.response, 303);
  };
}

/**
 * Returns whether the browser will show the answer as a page in a window or a frame (Fetch Metadata Request
 * Headers, sections 2.1 and 2.2). Old browsers and browsers on plain http do not send these headers, but they
 * accept `text/html`. Programs do not accept `text/html`.
 */
function isNavigation(request: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, accept = '' } = request.headers;
  const isShown = isForDocument(request);
  if (mode === undefined && isShown === undefined) return /\btext\/html\b/i.test(accept);
  return mode === 'navigate' && isShown === true;
}
