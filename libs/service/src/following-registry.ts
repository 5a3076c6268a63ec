import type { Registry } from '@clinical-launch/contracts';
import { type AccessTokenVerifier, createAccessTokenVerifier, type IssuerPolicy } from './access-tokens.ts';
import type { Clock } from './clock.ts';
import { issuerPolicies } from './issuer-policies.ts';
import type { Logger } from './logger.ts';
import {
  followRegistry,
  type RegistrySource,
  type WatchedRegistry,
  watchRegistryFile,
} from './registry-file.ts';
import type { Trust } from './trust.ts';

type WatchOptions = {
  readonly publicUrl: string;
  readonly logger: Logger;
  /** What a registry must pass beside its form. */
  readonly check?: (registry: Registry) => void;
};

/**
 * Follows the registry file of a process: a change is told in the log, one that cannot be used loudly.
 * @throws TypeError when the first content cannot be used.
 */
export function watchRegistry(path: string | URL, { logger, ...options }: WatchOptions): WatchedRegistry {
  return watchRegistryFile(path, {
    ...options,
    onChange: () => logger.info('the changed registry is in use'),
    onFault: (error) =>
      logger.error({ err: error }, 'the changed registry cannot be used; the one before it goes on'),
  });
}

type FollowOptions = {
  readonly clock: Clock;
  /** Whose tokens are accepted, by this registry. */
  readonly policiesOf: (registry: Registry) => readonly IssuerPolicy[];
};

/** A verifier of access tokens on the terms of the registry as it is at each request. */
export function createFollowingVerifier(
  registry: RegistrySource,
  { clock, policiesOf }: FollowOptions,
): AccessTokenVerifier {
  const verifier = followRegistry(registry, (current) =>
    createAccessTokenVerifier({ issuers: policiesOf(current), clock }),
  );
  return { verify: (authorization) => verifier().verify(authorization) };
}

type OpenVerifierOptions = {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whose tokens are accepted; those of the platform's clients and of trusted issuers when absent. */
  readonly policiesOf?: typeof issuerPolicies;
};

/**
 * The verifier of a process that follows its registry: who is registered while it runs is accepted from then on.
 * @throws TypeError when the registry cannot be used.
 */
export function openTokenVerifier(
  { registryFile, options }: Trust,
  { clock, logger, policiesOf = issuerPolicies }: OpenVerifierOptions,
) {
  const registry = watchRegistry(registryFile, { publicUrl: options.publicUrl, logger });
  return {
    tokens: createFollowingVerifier(registry, {
      clock,
      policiesOf: (current) => policiesOf(current, options),
    }),
    checks: {},
    stop: async () => registry.stop(),
  };
}
