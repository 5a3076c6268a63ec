import { Type } from '@clinical-launch/contracts/type';
import { isProduction, publicUrlSetting, readEnvironment } from '@clinical-launch/runtime/environment';

export type LaunchGatewayConfig = {
  /** Whether browsers reach the gateway over https. If so, session cookies are `Secure`. */
  readonly isSecure: boolean;
  readonly isProduction: boolean;
};

/** The settings of the launch gateway itself. Shared libraries read further settings. */
export const launchGatewaySettings = Type.Object({ PUBLIC_URL: publicUrlSetting });

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError with the names of the invalid variables, without their values
 */
export function readLaunchGatewayConfig(
  environment: Readonly<Record<string, string | undefined>>,
): LaunchGatewayConfig {
  const { PUBLIC_URL } = readEnvironment(launchGatewaySettings, environment);
  return Object.freeze({
    isSecure: PUBLIC_URL.startsWith('https:'),
    isProduction: isProduction(environment),
  });
}
