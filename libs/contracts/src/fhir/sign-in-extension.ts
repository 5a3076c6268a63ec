import { type Fault, faultWithin } from '../fault.ts';
import { compileSchema, entriesOf, memberOf, withoutUndefined } from '../schema.ts';
import { acrValue, authenticationMethod, type SignIn, signInFaults } from '../sign-in.ts';
import { Type } from '../type.ts';
import type { Vocabulary } from './identifier-systems.ts';

/** The elements of the extension by `url`. They have the names of OpenID Connect Core 1.0 section 2. */
const elements = {
  acr: compileSchema(Type.Object({ valueString: acrValue })),
  amr: compileSchema(Type.Object({ valueString: authenticationMethod })),
  auth_time: compileSchema(Type.Object({ valueInstant: Type.String({ format: 'full-date-time' }) })),
};
type Name = keyof typeof elements;

/** An entry of the list `extension` inside the sign-in extension, with its path in the Person. */
type Part = { readonly name: Name; readonly entry: unknown; readonly path: string };

/**
 * Creates the reader of the optional extension `sign-in` of the contained Person. The extension states how
 * the author signed in to the PMS. It is not part of the OLTR specification. The reader ignores other
 * extensions.
 * @param url the URL of the extension
 */
export function createSignInReader({ signInExtension: url }: Vocabulary) {
  const partsOf = (person: unknown): Part[] =>
    entriesOf(person, 'extension').flatMap((extension, at) =>
      memberOf(extension, 'url') === url
        ? entriesOf(extension, 'extension').flatMap((entry, index) => {
            const name = memberOf(entry, 'url');
            const path = `extension[${at}].extension[${index}]`;
            return isName(name) ? [{ name, entry, path }] : [];
          })
        : [],
    );
  return {
    /** Returns the errors of the extension. @param now milliseconds since 1970 */
    faultsOf(person: unknown, now: number): Fault[] {
      const seen = new Set<string>();
      return partsOf(person).flatMap(({ name, entry, path }) => {
        // The extension may contain several methods (`amr`), but each method only once.
        const key = name === 'amr' ? `amr ${textAt(entry, 'valueString')}` : name;
        if (seen.has(key)) return [{ path, message: 'must not be repeated', code: 'duplicate' } as const];
        seen.add(key);
        return [
          ...elements[name].faultsOf(entry),
          ...signInFaults({ auth_time: secondsIn(entry) }, { now }).map((fault) => ({
            ...fault,
            path: 'valueInstant',
            message: 'must not be in the future',
          })),
        ].map((fault) => faultWithin(path, fault));
      });
    },
    /** Returns the sign-in of a valid Person, or undefined if the extension is absent. */
    find(person: unknown): SignIn | undefined {
      const parts = partsOf(person);
      return parts.length > 0 ? valueOf(parts) : undefined;
    },
    /** Returns an error if the registry does not allow the client to send the `acr` of the author. */
    agreedFaults(
      author: { readonly resource: unknown; readonly path: string },
      acrValues: readonly string[] | undefined,
    ): Fault[] {
      const part = partsOf(author.resource).find(({ name }) => name === 'acr');
      return signInFaults({ acr: memberOf(part?.entry, 'valueString') }, { acrValues }).map((fault) => ({
        ...fault,
        path: `${author.path}.${part?.path}.valueString`,
      }));
    },
  };
}

const isName = (name: unknown): name is Name => typeof name === 'string' && Object.hasOwn(elements, name);

/** Returns a member, or an empty string if it is not a string. Converting an object to a string can throw. */
function textAt(entry: unknown, name: string): string {
  const value = memberOf(entry, name);
  return typeof value === 'string' ? value : '';
}

/** Returns the time of an entry in seconds since 1970, or undefined if the entry contains no time. */
function secondsIn(entry: unknown): number | undefined {
  const seconds = Math.floor(Date.parse(textAt(entry, 'valueInstant')) / 1000);
  return Number.isNaN(seconds) ? undefined : seconds;
}

function valueOf(parts: readonly Part[]): SignIn {
  const textsOf = (wanted: Name) =>
    parts.filter(({ name }) => name === wanted).map(({ entry }) => textAt(entry, 'valueString'));
  const [acr] = textsOf('acr');
  const amr = textsOf('amr');
  const time = parts.find(({ name }) => name === 'auth_time');
  return withoutUndefined({
    acr,
    amr: amr.length > 0 ? amr : undefined,
    auth_time: time && secondsIn(time.entry),
  });
}
