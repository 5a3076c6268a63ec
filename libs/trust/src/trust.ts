import { Type } from '@clinical-launch/contracts/type';
import { readAllowedNetworks } from '@clinical-launch/http/outbound-settings';
import {
  ConfigurationError,
  type Environment,
  isProduction,
  publicUrlSetting,
  readEnvironment,
} from '@clinical-launch/runtime/environment';
import type { IssuerPoliciesOptions } from './issuer-policies.ts';
import { assertProductionRegistry } from './production-registry.ts';
import { readRegistryFile } from './registry-file.ts';

/** The setting `AUDIENCE` (`APP_ID_URI`): the audience of access tokens for the platform's APIs. */
export const audienceSetting = Type.String({
  default: 'api://clinical-launch',
  title: 'APP_ID_URI: the audience of access tokens. Clients request the scope `<AUDIENCE>/.default`.',
});

/** The setting `REGISTRY_FILE`, for the schema of each process that reads the registry. */
export const registryFileSetting = Type.String({
  title:
    'The registry: the JSON file with realms, clients, partners and trusted issuers. A changed file is in use within seconds.',
});

/** The settings of the registry and of the issuers that a service trusts. */
export const trustSettings = Type.Object({
  PUBLIC_URL: publicUrlSetting,
  AUDIENCE: audienceSetting,
  REGISTRY_FILE: registryFileSetting,
  IDENTITY_PROVIDER_URL: Type.String({
    title: 'The address of the identity provider within the deployment, without `/idp`.',
    pattern: '^https?://',
    description: 'must be an http or https address',
  }),
});

/** The registry file and the settings that issuer policies are built from. */
export type Trust = {
  readonly registryFile: string;
  readonly options: IssuerPoliciesOptions;
  /** Networks, in addition to the public internet, in which issuers may be. */
  readonly allowedNetworks: readonly string[];
  readonly isProduction: boolean;
};

/**
 * Reads the trust settings of a service, and checks the registry file.
 * @throws ConfigurationError that names the invalid variables, or every error of the registry file
 */
export function readTrust(environment: Environment): Trust {
  const read = readEnvironment(trustSettings, environment);
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

/**
 * Reads where the registry is for a service that follows it but verifies no tokens, and checks the file.
 * @throws ConfigurationError with every error of the file
 */
export function readRegistrySetting(environment: Environment): RegistryPlace & { isProduction: boolean } {
  const schema = Type.Object({ PUBLIC_URL: publicUrlSetting, REGISTRY_FILE: registryFileSetting });
  const { PUBLIC_URL: publicUrl, REGISTRY_FILE: path } = readEnvironment(schema, environment);
  checkRegistryFile(environment, { path, publicUrl });
  return { path, publicUrl, isProduction: isProduction(environment) };
}

type RegistryPlace = { readonly path: string; readonly publicUrl: string };

/**
 * Checks the registry file of a process. In production, also checks it against the rules for production.
 * @throws ConfigurationError with every problem of the file, and none of its values
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
