import type { IncomingMessage } from 'node:http';
import { parseLaunchNotice } from '@clinical-launch/contracts/launch-context';
import { withParameters } from '@clinical-launch/contracts/registered-address';
import { sendStatus } from '@clinical-launch/http/answer';
import { type ErrorDialect, problemDialect, type ServiceError } from '@clinical-launch/http/errors';
import type { LaunchGatewayConfig } from '../config.ts';

/** The parameters of the page of a practice system. */
type Shown = {
  /** The GUID under which support finds the refusal. */
  readonly reference: string;
  /** The code of the refusal (docs/reference/errors.md). */
  readonly reason: string;
};

/**
 * Returns the headers that lead a browser to the page that the client of the launch registered, with the
 * reference and the reason in its query. Returns none if the client registered no page, or if no user would
 * see it. The address comes from the launch itself, never from the request.
 */
export function toErrorPage(
  request: IncomingMessage,
  notice: unknown,
  { reference, reason }: Shown,
): Readonly<Record<string, string>> {
  if (notice === undefined || !isNavigation(request)) return {};
  const { errorPage } = parseLaunchNotice(notice);
  return {
    Location: withParameters(errorPage, { reference, reason }),
    'Referrer-Policy': 'no-referrer',
  };
}

/** One reason for every 401, so that the answer does not reveal whether a launch token is live. */
const reasonOf = ({ status, code }: ServiceError) => (status === 401 ? 'not_valid' : code);

/**
 * Answers a refusal with a `Location` as a redirect (RFC 9110 section 15.4.4), and every other one without a
 * body. Logs, events and metrics have the status of the refusal.
 */
export function launchDialect(config: LaunchGatewayConfig): ErrorDialect {
  const problem = problemDialect({ ...config, reasonOf });
  return (error, exchange) => {
    if (error.headers.Location === undefined) return problem(error, exchange);
    sendStatus(exchange.response, 303);
  };
}

const documents = new Set(['document', 'iframe', 'frame']);

/**
 * Returns whether a browser shows the answer to its user as a page, in a window or a frame (Fetch Metadata
 * Request Headers, sections 2.1 and 2.2). Browsers that do not send these headers, and browsers over plain
 * http, name `text/html` in `Accept`. Programs do not.
 */
function isNavigation({ headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination, accept = '' } = headers;
  if (mode === undefined && destination === undefined) return /\btext\/html\b/i.test(accept);
  return mode === 'navigate' && documents.has(String(destination));
}
