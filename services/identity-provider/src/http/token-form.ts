import { readForm } from '@clinical-launch/http/body';
import type { Exchange } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { TokenRefusal } from '../errors.ts';

/** The size limit of a form, above the largest request of any client. */
export const formLimitBytes = 16 * 1024;

/** Reads the form of a token request. @throws TokenRefusal 400, and 413 for more than 16 KiB. */
export async function readTokenForm(exchange: Exchange): Promise<URLSearchParams> {
  try {
    return await readForm(exchange, formLimitBytes);
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.status >= 500 || cause.status === 408) throw cause;
    // RFC 6749 section 5.2 requires 400 where HTTP would use 415.
    const reason = cause.status === 413 ? 'body_too_large' : 'not_a_form';
    throw new TokenRefusal(reason, { headers: cause.headers, cause });
  }
}

/**
 * Picks the named parameters of a form. Ignores unknown parameters, and parameters without a value (RFC 6749
 * section 3.2).
 * @throws TokenRefusal if a named parameter is repeated
 */
export function pickParameters(form: URLSearchParams, names: readonly string[]): Map<string, string> {
  const picked = new Map<string, string>();
  for (const name of names) {
    const [value = '', ...more] = form.getAll(name);
    if (more.length > 0) throw new TokenRefusal('repeated_parameter', { parameter: name });
    if (value !== '') picked.set(name, value);
  }
  return picked;
}
