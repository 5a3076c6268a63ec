import { Type } from 'typebox';
import { ConfigurationError, type Environment, originSetting, readEnvironment } from './environment.ts';
import type { IssuerPoliciesOptions } from './issuer-policies.ts';
import { readRegistryFile } from './registry-file.ts';

const environmentSchema = Type.Object({
  PUBLIC_URL: originSetting,
  AUDIENCE: Type.String({ default: 'api://clinical-launch' }),
  REGISTRY_FILE: Type.String(),
  /** Where the identity provider answers within the deployment. */
  IDENTITY_PROVIDER_URL: Type.String({
    pattern: '^https?://',
    description: 'must be an http or https address',
  }),
});

/** Where it is written whose access tokens are accepted, and on which terms. */
export type Trust = {
  readonly registryFile: string;
  readonly options: IssuerPoliciesOptions;
};

/**
 * Reads whom a service trusts, and makes sure that the registry can be used.
 * @throws ConfigurationError that names the faulty variables, or every fault of the registry file.
 */
export function readTrust(environment: Environment): Trust {
  const read = readEnvironment(environmentSchema, environment);
  assertRegistry(read.REGISTRY_FILE, read.PUBLIC_URL);
  return {
    registryFile: read.REGISTRY_FILE,
    options: {
      publicUrl: read.PUBLIC_URL,
      identityProviderUrl: read.IDENTITY_PROVIDER_URL,
      audience: read.AUDIENCE,
    },
  };
}

function assertRegistry(path: string, publicUrl: string): void {
  try {
    readRegistryFile(path, { publicUrl });
  } catch (cause) {
    throw new ConfigurationError([`REGISTRY_FILE: ${(cause as Error).message}`], { cause });
  }
}
