import { createHash, hkdfSync } from 'node:crypto';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import { isProduction } from '@clinical-launch/runtime/mode';

type SecretKeySetting = {
  /** The variable: 32 bytes in Base64URL. */
  readonly setting: string;
  /** The text that the key of the demo is the SHA-256 of. It is public; production refuses the key. */
  readonly demo: string;
};

/**
 * Reads a key of 32 bytes. Without its setting it is derived from `SEALING_KEYS`, else it is that of the
 * demo, which its processes and restarts share.
 * @throws ConfigurationError when it is invalid, or missing or public in production
 */
export function readSecretKey(environment: Environment, { setting, demo }: SecretKeySetting): Buffer {
  const production = isProduction(environment);
  const demoKey = createHash('sha256').update(demo).digest();
  const text = environment[setting];
  if (!text) {
    const shared = deriveFromSealingKeys(environment, setting);
    if (shared === undefined && production) throw new ConfigurationError([`${setting} is not set`]);
    return shared ?? demoKey;
  }
  const [, written = ''] = /^\s*([\w-]{43})=?\s*$/.exec(text) ?? [];
  const key = Buffer.from(written, 'base64url');
  if (key.length !== 32) throw new ConfigurationError([`${setting} must be 32 bytes in Base64URL`]);
  if (production && key.equals(demoKey))
    throw new ConfigurationError([`${setting} is the key of the demo, which is publicly known`]);
  return key;
}

/**
 * Returns 32 secret bytes for a setting that is not set, from `SEALING_KEYS` (HKDF-SHA-256, RFC 5869);
 * undefined without that.
 */
export function deriveFromSealingKeys(
  { SEALING_KEYS: shared }: Environment,
  setting: string,
): Buffer | undefined {
  return shared ? Buffer.from(hkdfSync('sha256', shared, '', setting, 32)) : undefined;
}
