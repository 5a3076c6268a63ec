import { compileSchema } from '@clinical-launch/contracts';
import type { Static, TObject } from 'typebox';

/**
 * Reads a configuration from environment variables: strings become the numbers and booleans that the schema names,
 * defaults are filled in, an empty variable counts as unset.
 * @throws TypeError that names every faulty variable at once, and prints no value.
 */
export function readEnvironment<S extends TObject>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Static<S>> {
  const names = Object.keys(schema.properties);
  const candidate: Record<string, unknown> = Object.fromEntries(
    names
      .map((name) => [name, environment[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const compiled = compileSchema(schema, { coerce: true });
  const faults = compiled.faultsOf(candidate);
  if (faults.length > 0 || !compiled.is(candidate)) {
    throw new TypeError(configurationError(faults.map(({ path, message }) => `${path} ${message}`)));
  }
  return Object.freeze(candidate);
}

/** The words of a start-up error: every problem on its own line. */
export function configurationError(problems: readonly string[]): string {
  return `The configuration cannot be used:\n  ${problems.join('\n  ')}`;
}
