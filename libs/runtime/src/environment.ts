import { singleLine } from '@clinical-launch/contracts/formats';
import * as values from '@clinical-launch/contracts/registry-values';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { isTimeZone } from '@clinical-launch/contracts/time';
import { optionalText, type Static, type TObject, Type } from '@clinical-launch/contracts/type';

export type Environment = Readonly<Record<string, string | undefined>>;

const origin = {
  pattern: values.originPattern,
  description: 'must be an origin in ASCII, such as https://launch.example (write other letters as xn--)',
};

/**
 * Returns a setting for an origin: scheme, host and port, without a path or a trailing slash. Every setting
 * has a `title`, which describes it in docs/reference/settings.md.
 */
export const originSetting = (title: string) => Type.String({ ...origin, title });

/** The setting `PUBLIC_URL`, for the settings schema of a process. */
export const publicUrlSetting = originSetting(
  'The origin at which browsers and backends reach the platform: scheme, host and port. Every issuer and launch URL begins with it. Production requires https.',
);

/** The setting `TIME_ZONE`, for the settings schema of a process that writes local times. */
export const timeZoneSetting = Type.String({
  default: 'Europe/London',
  title:
    'The IANA time zone of the practices: times on pages and in order documents, and the age of a patient.',
});

/** The setting `SUPPORT_LINE`, which the schema of each process with pages contains. */
export const supportLineSetting = optionalText({
  ...singleLine,
  maxLength: 200,
  title:
    'A line at the foot of every page that users see, such as the telephone number of the support desk: at most 200 characters of text. If unset, pages have no such line.',
});

/**
 * Marks a setting that only production requires. In other modes, a missing setting is derived from
 * `SEALING_KEYS` or has the value of the demo.
 */
export const inProduction = 'required in production';

/**
 * Thrown if the process cannot start with this configuration. The message lists every problem, without
 * values.
 */
export class ConfigurationError extends TypeError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`The configuration is invalid:\n  ${problems.join('\n  ')}`, options);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/**
 * Reads a configuration from environment variables. Converts strings to the numbers and booleans of the
 * schema and fills in defaults. An empty variable counts as unset.
 * @throws ConfigurationError that names every invalid variable
 */
export function readEnvironment<S extends TObject>(schema: S, environment: Environment): Readonly<Static<S>> {
  const names = Object.keys(schema.properties);
  const candidate: Record<string, unknown> = Object.fromEntries(
    names
      .map((name) => [name, environment[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const compiled = compileSchema(schema, { coerce: true });
  if (compiled.is(candidate)) return Object.freeze(candidate);
  throw new ConfigurationError(compiled.faultsOf(candidate).map(({ path, message }) => `${path} ${message}`));
}

/**
 * Runs several readers of one environment, so that the problems of all of them are reported at once.
 * @throws ConfigurationError with every problem, each once
 */
export function readTogether<Readers extends Readonly<Record<string, () => unknown>>>(
  readers: Readers,
): { readonly [Name in keyof Readers]: ReturnType<Readers[Name]> } {
  const problems = new Set<string>();
  const read = Object.entries(readers).map(([name, reader]) => {
    try {
      return [name, reader()] as const;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      for (const problem of error.problems) problems.add(problem);
      return [name, undefined] as const;
    }
  });
  if (problems.size > 0) throw new ConfigurationError([...problems]);
  return Object.fromEntries(read) as { [Name in keyof Readers]: ReturnType<Readers[Name]> };
}

/** Checks the setting `TIME_ZONE`. @throws ConfigurationError */
export function assertTimeZone(timeZone: string): void {
  if (!isTimeZone(timeZone))
    throw new ConfigurationError(['TIME_ZONE must be a time zone of the IANA database']);
}

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
