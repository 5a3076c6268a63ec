import type { IncomingMessage } from 'node:http';
import { readForm } from '@clinical-launch/http/body';
import type { Exchange } from '@clinical-launch/http/endpoint';

const sentForms = new WeakMap<IncomingMessage, URLSearchParams>();

/**
 * Reads the fields of a form, and remembers them for an error page. @throws ServiceError, as `readForm` does
 */
export async function readSentForm(exchange: Exchange): Promise<URLSearchParams> {
  const form = await readForm(exchange);
  sentForms.set(exchange.request, form);
  return form;
}

/** Returns the fields that were read from a request, so that an error page can contain the typed text. */
export const sentFormOf = (request: IncomingMessage): URLSearchParams | undefined => sentForms.get(request);
