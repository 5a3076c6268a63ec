import { Type } from './type.ts';

/** A resource name of the form `ern:<...>:<id>` (Desktop: ID token claims). */
export const resourceName = Type.String({
  pattern: '^ern(:[!-9;-~]+){2,}$',
  maxLength: 200,
  description: 'must be a resource name of the form ern:<...>:<id>',
});

/** The resource names that a host application may name, as written in the registry: `"any"`, or prefixes. */
export const statedErnsSchema = Type.Unsafe<StatedErns>({
  type: ['string', 'array'],
  pattern: '^any$',
  description: 'must be "any" or a list of prefixes',
  items: Type.String({
    pattern: '^ern(:[!-9;-~]+)+$',
    maxLength: 200,
    description: 'must be whole segments of a resource name, such as ern:demo-ehr',
  }),
  minItems: 1,
  maxItems: 100,
});

type StatedErns = 'any' | readonly string[];

/**
 * Returns whether a host application may name a resource. Prefixes consist of whole segments, and their case
 * does not matter, because partners may compare names without case. If the registry states nothing, every
 * name is allowed.
 */
export const isOwnErn = (ern: string, stated: StatedErns = 'any'): boolean =>
  stated === 'any' || stated.some((prefix) => beginsWith(ern, prefix));

/** Returns whether two host applications could name the same resource. Accepts any values. */
export const overlap = (one: unknown, other: unknown): boolean =>
  prefixesOf(one).some((prefix) =>
    prefixesOf(other).some((rival) => beginsWith(prefix, rival) || beginsWith(rival, prefix)),
  );

const prefixesOf = (stated: unknown) =>
  stated === 'any' ? ['ern'] : Array.isArray(stated) ? stated.map(String) : [];

const beginsWith = (name: string, prefix: string) =>
  `${name}:`.toLowerCase().startsWith(`${prefix}:`.toLowerCase());
