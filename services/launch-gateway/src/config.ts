import { originSetting, readEnvironment } from '@clinical-launch/service';
import { Type } from 'typebox';

export type LaunchGatewayConfig = {
  /** Whether browsers reach it by https; session cookies are `Secure` then. */
  readonly isSecure: boolean;
  readonly isProduction: boolean;
};

const environmentSchema = Type.Object({
  PUBLIC_URL: originSetting,
  NODE_ENV: Type.Optional(Type.String()),
});

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError that names the faulty variables and prints no value.
 */
export function readLaunchGatewayConfig(
  environment: Readonly<Record<string, string | undefined>>,
): LaunchGatewayConfig {
  const { PUBLIC_URL, NODE_ENV } = readEnvironment(environmentSchema, environment);
  return Object.freeze({
    isSecure: PUBLIC_URL.startsWith('https:'),
    isProduction: NODE_ENV === 'production',
  });
}
