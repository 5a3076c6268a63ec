import type { CompiledSchema } from '@clinical-launch/contracts/schema';
import { readForm, readJson } from '@clinical-launch/http/body';
import type { Exchange } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';

const limitBytes = 64 * 1024;

/**
 * Reads the members of a JSON body, or the fields of a form.
 * @throws ServiceError 400 that lists every fault, 413 or 415
 */
export async function readMembers<Members>(
  exchange: Exchange,
  schema: CompiledSchema<Members>,
): Promise<Members> {
  const isJson = exchange.request.headers['content-type']?.startsWith('application/json') === true;
  const body = isJson
    ? await readJson(exchange, { types: ['application/json'], limitBytes })
    : Object.fromEntries(await readForm(exchange, limitBytes));
  if (schema.is(body)) return body;
  throw new ServiceError({
    code: 'invalid_request',
    message: 'The request is invalid. Correct the fields listed in `errors` and send it again',
    faults: schema.faultsOf(body),
  });
}
