import type { IncomingMessage, ServerResponse } from 'node:http';
import { readForm } from '@clinical-launch/http/body';

const sentForms = new WeakMap<IncomingMessage, URLSearchParams>();

/**
 * Reads the fields of a form, and remembers them for an error page. @throws ServiceError, as `readForm` does
 */
export async function readSentForm(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<URLSearchParams> {
  const form = await readForm(request, response);
  sentForms.set(request, form);
  return form;
}

/** Returns the fields that were read from a request, so that an error page can contain the typed text. */
export const sentFormOf = (request: IncomingMessage): URLSearchParams | undefined => sentForms.get(request);
