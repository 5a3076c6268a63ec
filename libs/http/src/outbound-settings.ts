import { Type } from '@clinical-launch/contracts/type';
import { ConfigurationError, type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import { isProduction } from '@clinical-launch/runtime/mode';
import { isCidr } from './network-guard.ts';

/** This machine. Outside production, issuers and partner applications under development run on it. */
export const loopbackNetworks: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** The networks to which requests may go. */
export const outboundSettings = Type.Object({
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(
    Type.String({
      title:
        'Networks (CIDR, separated by commas) to which requests to registered addresses may go in addition to the public internet, also by http. Without it: none in production, this machine elsewhere.',
    }),
  ),
});

/**
 * Reads `OUTBOUND_ALLOWED_NETWORKS`: the networks, in addition to the public internet, to which requests may
 * go, also by http. The default is none in production and this machine elsewhere.
 * @throws ConfigurationError that prints no value
 */
export function readAllowedNetworks(environment: Environment): readonly string[] {
  const { OUTBOUND_ALLOWED_NETWORKS: setting } = readEnvironment(outboundSettings, environment);
  if (setting !== undefined) return parseNetworks('OUTBOUND_ALLOWED_NETWORKS', setting);
  return isProduction(environment) ? [] : loopbackNetworks;
}

/**
 * Parses networks in CIDR notation, separated by commas. @throws ConfigurationError that names the variable
 */
export function parseNetworks(variable: string, setting: string): string[] {
  const networks = setting
    .split(',')
    .map((network) => network.trim())
    .filter(Boolean);
  if (networks.every(isCidr)) return networks;
  throw new ConfigurationError([`${variable} must be networks such as 10.1.0.0/16, separated by commas`]);
}
