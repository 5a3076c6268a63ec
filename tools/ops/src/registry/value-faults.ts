import { callbackAddressFault, partnerAddressFault } from '@clinical-launch/contracts/addresses';
import * as values from '@clinical-launch/contracts/registry-values';
import { compileSchema } from '@clinical-launch/contracts/schema';
import type { TSchema } from '@clinical-launch/contracts/type';

/**
 * Checks of addresses that may contain `${PUBLIC_URL}`. They are stricter than the schema, because they allow
 * http only for this machine.
 */
const addressFaults = new Map<unknown, (address: string) => string | undefined>([
  [patternOf(values.partnerAddress), (address) => partnerAddressFault(address, { isProduction: false })],
  [patternOf(values.httpAddress), callbackAddressFault],
]);

/**
 * Returns a function that checks values against a schema of the registry, and returns their error or
 * undefined.
 * @param read converts the text to a value
 */
export function faultBy(
  schema: TSchema,
  read: (text: string) => unknown = (text) => text,
): (text: string) => string | undefined {
  const compiled = compileSchema(schema);
  return addressFaults.get(patternOf(schema)) ?? ((text) => compiled.faultsOf(read(text))[0]?.message);
}

function patternOf(schema: TSchema): unknown {
  return 'pattern' in schema ? schema.pattern : undefined;
}
