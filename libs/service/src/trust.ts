import type { Registry } from '@clinical-launch/contracts';
import { Type } from 'typebox';
import type { IssuerPolicy } from './access-tokens.ts';
import { ConfigurationError, type Environment, originSetting, readEnvironment } from './environment.ts';
import { type IssuerPoliciesOptions, issuerPolicies } from './issuer-policies.ts';
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

export type Trust = {
  readonly registry: Registry;
  readonly issuers: readonly IssuerPolicy[];
  /** What these were read from and made with, for whoever follows the changes of the file. */
  readonly registryFile: string;
  readonly options: IssuerPoliciesOptions;
};

/**
 * Reads the registry, and from it whose access tokens are accepted.
 * @throws ConfigurationError that names the faulty variables, or every fault of the registry file.
 */
export function readTrust(environment: Environment): Trust {
  const read = readEnvironment(environmentSchema, environment);
  const registry = readRegistry(read.REGISTRY_FILE, read.PUBLIC_URL);
  const options = {
    publicUrl: read.PUBLIC_URL,
    identityProviderUrl: read.IDENTITY_PROVIDER_URL,
    audience: read.AUDIENCE,
  };
  return {
    registry,
    issuers: issuerPolicies(registry, options),
    registryFile: read.REGISTRY_FILE,
    options,
  };
}

function readRegistry(path: string, publicUrl: string): Registry {
  try {
    return readRegistryFile(path, { publicUrl });
  } catch (cause) {
    throw new ConfigurationError([`REGISTRY_FILE: ${(cause as Error).message}`], { cause });
  }
}
