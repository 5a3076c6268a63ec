import { hkdfSync } from 'node:crypto';
import { Type } from '@clinical-launch/contracts/type';
import type { Sealer, SealingKey } from '@clinical-launch/crypto/sealing';
import {
  createPurposeSealer,
  demoSealingKey,
  type Sealers,
  type SealingPurpose,
  sealingPurposes,
} from '@clinical-launch/crypto/sealing-purposes';
import {
  ConfigurationError,
  type Environment,
  inProduction,
  isProduction,
  readTogether,
} from '@clinical-launch/runtime/environment';

const sharedSetting = 'SEALING_KEYS';

const sealingSetting = (purpose: SealingPurpose): string =>
  `${sharedSetting}_${purpose.toUpperCase().replaceAll('-', '_')}`;

const contents: Readonly<Record<SealingPurpose, string>> = {
  launch: 'launch tokens and launch sessions',
  desktop: 'launch identifiers, authorization codes and refresh tokens',
  'access-token': 'the launch context in access tokens',
  'signing-key': 'private signing keys in the database',
  order: 'submitted orders in the outbox, in the queue and among dead letters',
  callback: 'callback secrets in the registry file',
};

/** Returns the settings that contain the keys of these purposes, for docs/reference/settings.md. */
export const sealingKeySettings = (...purposes: readonly SealingPurpose[]) =>
  Object.fromEntries(
    purposes.map((purpose) => [
      sealingSetting(purpose),
      Type.String({
        $comment: inProduction,
        title: `[Sealing keys](#sealing-keys) that encrypt ${contents[purpose]}.`,
      }),
    ]),
  );

/** The setting that contains the shared keys for all purposes, for docs/reference/settings.md. */
export const sharedKeySettings = {
  [sharedSetting]: Type.String({
    $comment: inProduction,
    title:
      'Keys from which `npm start` and `ops -- registry` derive every missing key. Outside production, services accept them too. If unset outside production, the publicly known key of the demo is used.',
  }),
};

/** The settings that contain sealing keys. Each setting may be read from a file instead: `<NAME>_FILE`. */
export const sealingSettings: readonly string[] = [sharedSetting, ...sealingPurposes.map(sealingSetting)];

type KeyOptions = {
  /**
   * Whether `SEALING_KEYS` alone is enough in production. True for the single process with all services, and
   * for commands. Outside production, `SEALING_KEYS` is always enough.
   */
  readonly acceptsShared?: boolean;
};

/**
 * Opens a sealer for each purpose. Its keys come from the setting of the purpose (`SEALING_KEYS_ORDER` for
 * `order`), or else from `SEALING_KEYS`, or else from the demo. A setting is `id:key`, with a key of 32 bytes
 * in Base64URL. Several keys are separated by commas. The first key seals, and every key can open.
 * @throws ConfigurationError with every problem at once: invalid keys and, in production, missing keys
 */
export function openSealers<Purpose extends SealingPurpose>(
  environment: Environment,
  purposes: readonly Purpose[],
  options: KeyOptions = {},
): Pick<Sealers, Purpose> {
  const readers = Object.fromEntries(
    purposes.map((purpose) => [purpose, () => openSealer(environment, purpose, options)]),
  ) as Record<Purpose, () => Sealer>;
  return readTogether(readers);
}

function openSealer(
  environment: Environment,
  purpose: SealingPurpose,
  { acceptsShared }: KeyOptions,
): Sealer {
  const own = sealingSetting(purpose);
  if (environment[own]) return createPurposeSealer(purpose, readKeys(environment, own));
  if (isProduction(environment) && !acceptsShared) {
    throw new ConfigurationError([`${own} is not set`]);
  }
  return createPurposeSealer(purpose, readSharedKeys(environment));
}

/**
 * Reads the keys of `SEALING_KEYS`, or returns the key of the demo.
 * @throws ConfigurationError when they are invalid, or missing in production
 */
export function readSharedKeys(environment: Environment): readonly SealingKey[] {
  if (environment[sharedSetting]) return readKeys(environment, sharedSetting);
  if (isProduction(environment)) throw new ConfigurationError([`${sharedSetting} is not set`]);
  return [demoSealingKey];
}

function readKeys(environment: Environment, setting: string): readonly SealingKey[] {
  const keys = (environment[setting] ?? '').split(',').map((entry) => {
    const [, id = '', key = ''] = /^\s*([A-Za-z0-9-]{1,20}):([A-Za-z0-9_-]{43})=?\s*$/.exec(entry) ?? [];
    return { id, key: Buffer.from(key, 'base64url') };
  });
  if (keys.some(({ id }) => id === '')) {
    throw new ConfigurationError([
      `${setting} must be id:key, with a key of 32 bytes in Base64URL. Separate several with commas`,
    ]);
  }
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new ConfigurationError([`${setting} has two keys with the same id`]);
  }
  if (isProduction(environment) && keys.some(({ key }) => key.equals(demoSealingKey.key))) {
    throw new ConfigurationError([`${setting} contains the key of the demo, which is publicly known`]);
  }
  return keys;
}

/**
 * Derives 32 secret bytes from `SEALING_KEYS`, for a setting that is missing (HKDF-SHA-256, RFC 5869).
 * Returns undefined without `SEALING_KEYS`.
 */
export function deriveFromSealingKeys(
  { SEALING_KEYS: shared }: Environment,
  setting: string,
): Buffer | undefined {
  return shared ? Buffer.from(hkdfSync('sha256', shared, '', setting, 32)) : undefined;
}
