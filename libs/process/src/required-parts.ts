import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import { isProduction } from '@clinical-launch/runtime/mode';

/** The variables that name the parts. */
export type PartVariable = 'REDIS_URL' | 'AMQP_URL' | 'DATABASE_URL';

/**
 * Insists on real parts, and in production on passwords that are not public.
 * @throws ConfigurationError that names every variable
 */
export function requireParts(environment: Environment, variables: readonly PartVariable[]): void {
  const problems = variables.flatMap((name) => {
    const address = environment[name];
    if (!address) return [`${name} is not set`];
    return isProduction(environment) && hasPasswordOfDemo(address)
      ? [`${name} contains a password of the demo, which is publicly known`]
      : [];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Those of `deploy/docker/demo-secrets` begin so. Redis may have several addresses, separated by commas. */
const hasPasswordOfDemo = (addresses: string) =>
  addresses.split(',').some((address) => URL.parse(address.trim())?.password.startsWith('demo-') === true);
