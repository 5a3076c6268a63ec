import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import accepts from 'accepts';

/** Sets several headers of a response. */
export function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
}

/**
 * Sends text in UTF-8 as the body of a response, whose status and other headers are already set.
 * @param contentType the media type without charset, such as `application/json`
 */
export function sendText(response: ServerResponse, contentType: string, text: string | Buffer): void {
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Sends JSON as the body of a response, whose status and other headers are already set. */
export function sendJson(response: ServerResponse, body: unknown): void {
  sendText(response, 'application/json', JSON.stringify(body));
}

/** Answers with a status and without a body. */
export function sendStatus(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.end();
}

/**
 * Redirects a browser (RFC 9110 section 15.4). After the default status 303, the browser sends a GET.
 * @param address the new address in ASCII, percent-encoded
 */
export function redirect(response: ServerResponse, address: string, status = 303): void {
  response.setHeader('Location', address);
  sendStatus(response, status);
}

/**
 * Returns which of these media types the caller prefers (RFC 9110 section 12.5.1). Returns undefined if the
 * caller accepts none of them.
 * @param types the media types that the service prefers, best first
 */
export function preferredType(request: IncomingMessage, types: readonly string[]): string | undefined {
  const preferred = accepts(request).type([...types]);
  return typeof preferred === 'string' ? preferred : undefined;
}

/** Returns whether the caller prefers a page to JSON, as browsers do. */
export const wantsPage = ({ request }: { readonly request: IncomingMessage }): boolean =>
  preferredType(request, ['application/json', 'text/html']) === 'text/html';
