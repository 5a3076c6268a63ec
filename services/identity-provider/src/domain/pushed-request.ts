import { compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';

/** The lifetime of a pushed request in seconds, enough to open a browser (RFC 9126 section 2.2). */
export const pushedRequestSeconds = 60;

const prefix = 'urn:ietf:params:oauth:request_uri:';

/**
 * Returns the `request_uri` of a pushed request (RFC 9126 section 2.2). It ends with the secret ticket of the
 * request.
 */
export function requestUriOf(ticket: string): string {
  return `${prefix}${ticket}`;
}

/** Returns the ticket in a `request_uri`, or undefined if this service did not issue the URI. */
export function ticketOfRequestUri(requestUri: string): string | undefined {
  return requestUri.startsWith(prefix) ? requestUri.slice(prefix.length) : undefined;
}

export type PushedParameters = Readonly<Record<string, string>>;

const form = compileSchema(Type.Record(Type.String(), Type.String()));

/**
 * Reads the stored parameters of a pushed request.
 * @throws TypeError if another version stored the parameters in a different format
 */
export function readPushedParameters({ context }: { readonly context: unknown }): PushedParameters {
  if (form.is(context)) return context;
  throw new TypeError('The content of the ticket is not a pushed authorization request');
}
