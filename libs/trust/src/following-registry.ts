import type { Registry } from '@clinical-launch/contracts/registry';
import { createOutboundFetch, type OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { type AccessTokenVerifier, createAccessTokenVerifier } from './access-tokens.ts';
import { type IssuerPolicy, issuerPolicies } from './issuer-policies.ts';
import { assertProductionRegistry } from './production-registry.ts';
import {
  followRegistry,
  type RegistrySource,
  type WatchedRegistry,
  watchRegistryFile,
} from './registry-file.ts';
import type { Revocations } from './revocations.ts';
import type { Trust } from './trust.ts';

type WatchOptions = {
  readonly publicUrl: string;
  readonly logger: Logger;
  /** Whether each content must also be valid for production. */
  readonly isProduction: boolean;
  /**
   * Refuses a registry that this process cannot use. Called before each registry takes effect. @throws Error
   */
  readonly check?: ((registry: Registry) => void) | undefined;
};

/**
 * Follows the registry file of a process. Logs each change. If the file is invalid, logs an error and keeps
 * the last valid registry.
 * @throws TypeError when the first content is invalid
 */
export function watchRegistry(
  path: string | URL,
  { publicUrl, logger, isProduction, check }: WatchOptions,
): WatchedRegistry {
  return watchRegistryFile(path, {
    publicUrl,
    check(registry) {
      if (isProduction) assertProductionRegistry(registry);
      check?.(registry);
    },
    onChange: () => logger.info('the changed registry is in use'),
    onFault: (error) =>
      logger.error({ err: error }, 'the changed registry is invalid; the previous one stays in use'),
  });
}

type FollowOptions = {
  readonly clock: Clock;
  /** Returns the issuers whose tokens are accepted, by this registry. */
  readonly policiesOf: (registry: Registry) => readonly IssuerPolicy[];
  readonly fetchOutbound: OutboundFetch;
  /** The tokens that were revoked by their id. Undefined if none of the accepted tokens can be revoked so. */
  readonly revocations: Revocations | undefined;
};

/** Creates a verifier of access tokens that uses the current registry at each request. */
export function createFollowingVerifier(
  registry: RegistrySource,
  { policiesOf, ...options }: FollowOptions,
): AccessTokenVerifier {
  const verifier = followRegistry(registry, (current) =>
    createAccessTokenVerifier({ issuers: policiesOf(current), ...options }),
  );
  return { verify: (...presented) => verifier().verify(...presented) };
}

type OpenVerifierOptions = {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The issuers whose tokens are accepted; the platform's realms and trusted issuers when absent. */
  readonly policiesOf?: typeof issuerPolicies;
  /** The tokens that were revoked by their id. Undefined if none of the accepted tokens can be revoked so. */
  readonly revocations: Revocations | undefined;
  readonly checkRegistry?: WatchOptions['check'];
};

/**
 * Opens the verifier of a process that follows its registry: clients that are registered while it runs are
 * accepted from then on.
 * @throws TypeError when the registry is invalid
 */
export function openTokenVerifier(
  { registryFile, options, allowedNetworks, isProduction }: Trust,
  { clock, logger, policiesOf = issuerPolicies, revocations, checkRegistry: check }: OpenVerifierOptions,
) {
  const { publicUrl } = options;
  const registry = watchRegistry(registryFile, { publicUrl, logger, isProduction, check });
  return {
    tokens: createFollowingVerifier(registry, {
      clock,
      revocations,
      policiesOf: (current) => policiesOf(current, options),
      fetchOutbound: createOutboundFetch({ allowedNetworks }),
    }),
    checks: {},
    stop: async () => registry.stop(),
  };
}
