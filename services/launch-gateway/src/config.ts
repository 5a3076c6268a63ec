import { Type } from '@clinical-launch/contracts/type';
import { publicUrlSetting, readEnvironment } from '@clinical-launch/runtime/environment';
import { isProduction } from '@clinical-launch/runtime/mode';

export type LaunchGatewayConfig = {
  /** Whether browsers reach it by https; session cookies are then `Secure`. */
  readonly isSecure: boolean;
  readonly isProduction: boolean;
};

/** The settings of the launch gateway alone. */
export const launchGatewaySettings = Type.Object({ PUBLIC_URL: publicUrlSetting });

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError that names the invalid variables and prints no value
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
