import type { Registry } from '@clinical-launch/contracts';
import type { Clock } from '../clock.ts';
import { createOutboundFetch, type OutboundFetch } from '../http/outbound-fetch.ts';
import type { Logger } from '../logger.ts';
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
  /** Whether each content must also be one for production. */
  readonly isProduction: boolean;
  /** Refuses a registry that this process cannot use. Called before each registry takes effect. @throws Error */
  readonly check?: ((registry: Registry) => void) | undefined;
};

/**
 * Follows the registry file of a process: a change is told in the log, one that cannot be used loudly.
 * @throws TypeError when the first content cannot be used.
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
      logger.error({ err: error }, 'the changed registry cannot be used; the one before it goes on'),
  });
}

type FollowOptions = {
  readonly clock: Clock;
  /** Whose tokens are accepted, by this registry. */
  readonly policiesOf: (registry: Registry) => readonly IssuerPolicy[];
  readonly fetchOutbound: OutboundFetch;
  /** The tokens that were revoked by their id. Undefined where none of the accepted tokens can be. */
  readonly revocations: Revocations | undefined;
};

/** A verifier of access tokens on the terms of the registry as it is at each request. */
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
  /** Whose tokens are accepted; those of the platform's clients and of trusted issuers when absent. */
  readonly policiesOf?: typeof issuerPolicies;
  /** The tokens that were revoked by their id. Undefined where none of the accepted tokens can be. */
  readonly revocations: Revocations | undefined;
  readonly checkRegistry?: WatchOptions['check'];
};

/**
 * The verifier of a process that follows its registry: who is registered while it runs is accepted from then on.
 * @throws TypeError when the registry cannot be used.
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
