import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { Type } from '@clinical-launch/contracts/type';
import type { Ed25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { readAllowedNetworks } from '@clinical-launch/http/outbound-settings';
import { readEd25519Keys } from '@clinical-launch/process/ed25519-settings';
import {
  ConfigurationError,
  type Environment,
  inProduction,
  isProduction,
  originSetting,
  publicUrlSetting,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { namespaceSettings, namespacesOf } from '@clinical-launch/runtime/namespace-settings';
import { audienceSetting } from '@clinical-launch/trust/trust';

export type DeveloperPortalConfig = {
  readonly publicUrl: string;
  readonly platformUrl: string;
  /** The origin at which browsers open launch URLs. */
  readonly oltrServer: string;
  readonly namespaces: Namespaces;
  /** The audience of access tokens. Clients request the scope `<audience>/.default`. */
  readonly audience: string;
  readonly statementKeys: Ed25519Keys;
  /** The networks (CIDR) that may receive callbacks in addition to the public internet, also by http. */
  readonly allowedNetworks: readonly string[];
  readonly isProduction: boolean;
};

/** The settings of the developer portal itself. Shared libraries read further settings. */
export const developerPortalSettings = Type.Object({
  PUBLIC_URL: publicUrlSetting,
  PLATFORM_URL: Type.Optional(
    originSetting(
      'The address at which this process reaches `PUBLIC_URL`. Without it, the process uses `PUBLIC_URL` itself.',
    ),
  ),
  OLTR_SERVER: Type.Optional(
    originSetting('The origin at which browsers reach `/secureLaunch`. Without it, `PUBLIC_URL` is used.'),
  ),
  AUDIENCE: audienceSetting,
  ...namespaceSettings,
  DEVELOPER_PORTAL: Type.Enum(['on', 'off'], {
    default: 'off',
    title:
      '`on` starts the developer portal in production. Outside production, it always starts. It serves sandbox clients only.',
  }),
});

const keySetting = 'STATEMENT_SIGNING_KEY';

export const statementKeySettings = {
  [keySetting]: Type.String({
    $comment: inProduction,
    title:
      'An Ed25519 key as a JWK, or a JWK set with the newest key first. It signs the conformance statements of suppliers. Without it and `SEALING_KEYS`, a key is drawn at each start.',
  }),
};

/**
 * Reads the service's configuration from the environment.
 * @throws ConfigurationError with the names of the invalid variables, and in production unless
 * `DEVELOPER_PORTAL` is `on`
 */
export function readDeveloperPortalConfig(environment: Environment): DeveloperPortalConfig {
  const { read, statementKeys } = readTogether({
    read: () => readEnvironment(developerPortalSettings, environment),
    statementKeys() {
      const keys = readEd25519Keys(environment, { setting: keySetting, demo: 'statement', isDrawn: true });
      if (keys.signing === undefined)
        throw new ConfigurationError([`${keySetting} must begin with a private key`]);
      return keys;
    },
    mode() {
      if (!isProduction(environment) || environment['DEVELOPER_PORTAL'] === 'on') return;
      throw new ConfigurationError(['DEVELOPER_PORTAL must be `on` to start the portal in production']);
    },
  });
  return Object.freeze({
    publicUrl: read.PUBLIC_URL,
    platformUrl: read.PLATFORM_URL ?? read.PUBLIC_URL,
    oltrServer: read.OLTR_SERVER ?? read.PUBLIC_URL,
    namespaces: namespacesOf(read),
    audience: read.AUDIENCE,
    statementKeys,
    // A developer enters the callback address. In production, it must not lead into the operator's networks.
    allowedNetworks: isProduction(environment) ? [] : readAllowedNetworks(environment),
    isProduction: isProduction(environment),
  });
}
