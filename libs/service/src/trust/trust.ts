import { Type } from 'typebox';
import { ConfigurationError, type Environment, originSetting, readEnvironment } from '../environment.ts';
import { readAllowedNetworks } from '../http/outbound-settings.ts';
import { isProduction } from '../mode.ts';
import type { IssuerPoliciesOptions } from './issuer-policies.ts';
import { assertProductionRegistry } from './production-registry.ts';
import { readRegistryFile } from './registry-file.ts';

/** APP_ID_URI: what access tokens for the platform's APIs are made out to. */
export const audienceSetting = Type.String({ default: 'api://clinical-launch' });

const environmentSchema = Type.Object({
  PUBLIC_URL: originSetting,
  AUDIENCE: audienceSetting,
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
  /** Networks besides the public internet in which issuers may be. */
  readonly allowedNetworks: readonly string[];
  readonly isProduction: boolean;
};

/**
 * Reads whom a service trusts, and makes sure that the registry can be used.
 * @throws ConfigurationError that names the faulty variables, or every fault of the registry file.
 */
export function readTrust(environment: Environment): Trust {
  const read = readEnvironment(environmentSchema, environment);
  checkRegistryFile(environment, { path: read.REGISTRY_FILE, publicUrl: read.PUBLIC_URL });
  const allowedNetworks = readAllowedNetworks(environment);
  return {
    allowedNetworks,
    isProduction: isProduction(environment),
    registryFile: read.REGISTRY_FILE,
    options: {
      publicUrl: read.PUBLIC_URL,
      identityProviderUrl: read.IDENTITY_PROVIDER_URL,
      audience: read.AUDIENCE,
    },
  };
}

type RegistryPlace = { readonly path: string; readonly publicUrl: string };

/**
 * Checks that the registry file of a process can be used, in production also there.
 * @throws ConfigurationError with every problem of the file, and no value of it.
 */
export function checkRegistryFile(environment: Environment, { path, publicUrl }: RegistryPlace): void {
  try {
    const registry = readRegistryFile(path, { publicUrl });
    if (isProduction(environment)) assertProductionRegistry(registry);
  } catch (cause) {
    if (cause instanceof ConfigurationError) {
      throw new ConfigurationError(
        cause.problems.map((problem) => `REGISTRY_FILE: ${problem}`),
        { cause },
      );
    }
    throw new ConfigurationError([`REGISTRY_FILE: ${(cause as Error).message}`], { cause });
  }
}
