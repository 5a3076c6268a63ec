import { optionalText, Type } from '@clinical-launch/contracts/type';
import {
  ConfigurationError,
  type Environment,
  isProduction,
  readEnvironment,
} from '@clinical-launch/runtime/environment';
import { isCidr } from './network-guard.ts';

/** The loopback networks. Outside production, issuers and partner applications may run on this machine. */
export const loopbackNetworks: readonly string[] = ['127.0.0.0/8', '::1/128'];

export const outboundSettings = Type.Object({
  OUTBOUND_ALLOWED_NETWORKS: optionalText({
    title:
      'Networks (CIDR, separated by commas) to which requests to registered addresses may go in addition to the public internet, also by http. If unset, production allows no network, and other modes allow only this machine.',
  }),
});

/**
 * Returns the networks in `OUTBOUND_ALLOWED_NETWORKS`. Requests may go to these networks in addition to the
 * public internet, even with http. The default is no network in production, and the loopback networks
 * elsewhere.
 * @throws ConfigurationError, whose message does not contain the value
 */
export function readAllowedNetworks(environment: Environment): readonly string[] {
  const { OUTBOUND_ALLOWED_NETWORKS: setting } = readEnvironment(outboundSettings, environment);
  if (setting !== undefined) return parseNetworks('OUTBOUND_ALLOWED_NETWORKS', setting);
  return isProduction(environment) ? [] : loopbackNetworks;
}

/**
 * Parses networks in CIDR notation that are separated by commas.
 * @throws ConfigurationError that names the variable
 */
export function parseNetworks(variable: string, setting: string): string[] {
  const networks = setting
    .split(',')
    .map((network) => network.trim())
    .filter(Boolean);
  if (networks.every(isCidr)) return networks;
  throw new ConfigurationError([`${variable} must be networks such as 10.1.0.0/16, separated by commas`]);
}
