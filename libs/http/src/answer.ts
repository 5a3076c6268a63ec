import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import accepts from 'accepts';

/** Sets several headers of a response. */
export function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
}

/**
 * Answers with a text in UTF-8, with the status and headers that the response already has.
 * @param contentType without its charset: `application/json`
 */
export function sendText(response: ServerResponse, contentType: string, text: string | Buffer): void {
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Answers with JSON, with the status and headers that the response already has. */
export function sendJson(response: ServerResponse, body: unknown): void {
  sendText(response, 'application/json', JSON.stringify(body));
}

/** Answers with a status alone, without a body. */
export function sendStatus(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.end();
}

/**
 * Redirects a browser (RFC 9110 section 15.4); by default 303, after which it sends a GET.
 * @param address as a header contains it: in ASCII, percent-encoded
 */
export function redirect(response: ServerResponse, address: string, status = 303): void {
  response.setHeader('Location', address);
  sendStatus(response, status);
}

/**
 * Returns the media type that the caller prefers (RFC 9110 section 12.5.1); undefined if it accepts none.
 * @param types in our order of preference
 */
export function preferredType(request: IncomingMessage, types: readonly string[]): string | undefined {
  const preferred = accepts(request).type([...types]);
  return typeof preferred === 'string' ? preferred : undefined;
}
