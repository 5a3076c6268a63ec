import { hash, randomBytes } from 'node:crypto';
import { type Ed25519Keys, ed25519KeyOf, parseEd25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { ConfigurationError, type Environment, isProduction } from '@clinical-launch/runtime/environment';
import { deriveFromSealingKeys } from './sealing-keys.ts';

type KeySetting = {
  readonly setting: string;
  /** The name from which the publicly known key pair of the demo is derived. */
  readonly demo: string;
  /** True if one process alone uses the key, which can then be a new random key at each start of the demo. */
  readonly isDrawn?: boolean;
};

/**
 * Reads Ed25519 keys. If the setting is missing, derives a key from `SEALING_KEYS` (HKDF, RFC 5869). If
 * `SEALING_KEYS` is also missing, returns a random key if `isDrawn` is true, or else the publicly known key of
 * the demo, which all processes of the demo share, also after a restart.
 * @throws ConfigurationError if the keys are invalid. In production, also if they are missing or are the keys
 *   of the demo
 */
export function readEd25519Keys(
  environment: Environment,
  { setting, demo, isDrawn = false }: KeySetting,
): Ed25519Keys {
  const demoKeys = keysFrom(hash('sha256', `clinical-launch demo ${demo} key`, 'buffer'));
  const text = environment[setting];
  if (!text) {
    const shared = deriveFromSealingKeys(environment, setting);
    if (shared !== undefined) return keysFrom(shared);
    if (isProduction(environment)) throw new ConfigurationError([`${setting} is not set`]);
    return isDrawn ? keysFrom(randomBytes(32)) : demoKeys;
  }
  const keys = parse(text, setting);
  if (isProduction(environment) && keys.verification.has(demoKeys.signing?.kid ?? '')) {
    throw new ConfigurationError([`${setting} contains the key of the demo, which is publicly known`]);
  }
  return keys;
}

const keysFrom = (secret: Uint8Array) => parseEd25519Keys(JSON.stringify(ed25519KeyOf(secret)));

function parse(text: string, setting: string): Ed25519Keys {
  try {
    return parseEd25519Keys(text);
  } catch (error) {
    const reason = error instanceof TypeError ? error.message : 'is invalid';
    throw new ConfigurationError([`${setting} ${reason}`]);
  }
}
