import { Type } from '@clinical-launch/contracts/type';
import { ConfigurationError, type Environment } from './environment.ts';

/** The values of `NODE_ENV`. If the variable is unset or empty, the mode is `development`. */
const modes = ['development', 'demo', 'test', 'production'];

/** The setting `NODE_ENV`, for docs/reference/settings.md. */
export const modeSetting = {
  NODE_ENV: Type.Enum(modes, {
    default: 'development',
    title: `\`${modes.slice(0, -1).join('`, `')}\` or \`production\`. Production refuses keys, passwords and clients of the demo, plain http and an unsafe Redis, and answers 500 and 503 without a body. The images set \`production\`.`,
  }),
};

/**
 * Returns whether `NODE_ENV` states that this process serves real patients. No other code reads that
 * variable.
 * @throws ConfigurationError for an unknown value, so that a typing error never enables the demo's settings
 *   in production
 */
export function isProduction({ NODE_ENV: mode }: Environment): boolean {
  if (mode && !modes.includes(mode)) {
    throw new ConfigurationError([`NODE_ENV must be one of ${modes.join(', ')}`]);
  }
  return mode === 'production';
}

/** The addresses at which browsers and backends reach the platform. */
const publicAddresses = ['PUBLIC_URL', 'OLTR_SERVER'];

/**
 * Checks that the platform's addresses are https in production, because secrets, tokens and patient data are
 * sent to them.
 * @throws ConfigurationError that names every variable, without values
 */
export function assertPublicAddresses(environment: Environment): void {
  if (!isProduction(environment)) return;
  const insecure = publicAddresses.filter(
    (name) => environment[name] && !environment[name].startsWith('https:'),
  );
  if (insecure.length > 0) {
    throw new ConfigurationError(insecure.map((name) => `${name} must be an https address in production`));
  }
}
