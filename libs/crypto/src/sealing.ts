import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto';

/**
 * Encrypts and decrypts content that leaves the process, such as ticket contexts and patient data in events.
 */
export type Sealer = {
  /**
   * Encrypts the JSON of `value` with AES-256-GCM. Purpose and binding are associated data (NIST SP 800-38D),
   * so that `open` fails for any other purpose or binding. The binding identifies the owner of the seal, such
   * as a ticket, an order or a launch. `open` needs the same texts in the same order. An empty binding ties the
   * seal only to its purpose.
   */
  seal(purpose: string, value: unknown, binding: SealBinding): string;
  /**
   * Decrypts a seal.
   * @throws Error if the seal has another purpose or binding or was changed, or if its key was removed
   */
  open(purpose: string, sealed: string, binding: SealBinding): unknown;
  /**
   * Derives 32 bytes from a purpose and a text. The result is always the same for the same key, and cannot be
   * computed without the key. Store `currentKeyId`, so that you can derive the same bytes after a key
   * rotation.
   * @throws Error if the key was removed
   */
  derive(purpose: string, text: string, keyId?: string): Buffer;
  /** The id of the key that `seal` uses, and that `derive` uses if no `keyId` is passed. */
  readonly currentKeyId: string;
};

/**
 * The texts that identify the owner of a seal. Code that opens a seal must not read them from the record that
 * contains the seal.
 */
export type SealBinding = readonly string[];

/** A key of 32 bytes, with a short id of letters, digits, `_` and `-`. */
export type SealingKey = { readonly id: string; readonly key: Uint8Array };

const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a sealer. The first key seals, and every key opens seals, so that keys can be rotated.
 * @param formerKeys keys that only open older seals. Their ids may also occur in `keys`
 * @throws TypeError if there is no key, a key does not have 32 bytes, or an id is malformed or repeated
 */
export function createSealer(keys: readonly SealingKey[], formerKeys: readonly SealingKey[] = []): Sealer {
  const [current] = keys;
  if (current === undefined) throw new TypeError('A sealer needs at least one key');
  if (keys.some(({ key }) => key.length !== 32)) throw new TypeError('A sealing key must have 32 bytes');
  // Key objects are created once, not for each seal, which halves the time to seal.
  const openingKeys = Map.groupBy([...keys, ...formerKeys], ({ id }) => id);
  const byId = new Map([...openingKeys].map(([id, its]) => [id, its.map(({ key }) => createSecretKey(key))]));
  const currentKey = createSecretKey(current.key);
  // With repeated ids, `derive` could use the wrong key. With a malformed id, the sealer could not open its
  // own seals.
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new TypeError('Each sealing key needs its own id');
  if (keys.some(({ id }) => !/^[\w-]+$/.test(id)))
    throw new TypeError('A key id must contain only letters, digits, _ and -');
  const derivationKeys = new Map(
    keys.map(({ id, key }) => [
      id,
      Buffer.from(hkdfSync('sha256', key, '', 'clinical-launch derivation', 32)),
    ]),
  );

  return {
    currentKeyId: current.id,
    derive(purpose, text, keyId = current.id) {
      const key = derivationKeys.get(keyId);
      if (key === undefined) throw new Error('The key that derived this value is not configured');
      // JSON ensures that different pairs of purpose and text never give the same bytes.
      return createHmac('sha256', key)
        .update(JSON.stringify([purpose, text]))
        .digest();
    },
    seal(purpose, value, binding) {
      const iv = drawBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv).setAAD(associatedData(purpose, binding));
      const body = cipher.update(JSON.stringify(value), 'utf8');
      // GCM has no padding, so `final` returns no bytes and only computes the tag.
      cipher.final();
      return `${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(purpose, sealed, binding) {
      const dot = sealed.indexOf('.');
      const [key, ...otherKeys] = byId.get(sealed.slice(0, dot)) ?? [];
      if (key === undefined) throw new Error('The key that sealed this value is not configured');
      const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
      const data = associatedData(purpose, binding);
      for (const former of otherKeys) {
        const text = tryToDecrypt(bytes, former, data);
        if (text !== undefined) return JSON.parse(text);
      }
      return JSON.parse(decrypt(bytes, key, data));
    },
  };
}

/**
 * Decrypts the bytes of a seal.
 * @throws Error if the bytes were not sealed with this key and these associated data
 */
function decrypt(bytes: Buffer, key: KeyObject, associated: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(associated)
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  const text = decipher.update(bytes.subarray(ivBytes + tagBytes));
  // Throws if the tag does not match.
  decipher.final();
  return text.toString('utf8');
}

function tryToDecrypt(...sealed: Parameters<typeof decrypt>): string | undefined {
  try {
    return decrypt(...sealed);
  } catch {
    return undefined;
  }
}

/**
 * Returns the associated data as JSON, so that different lists of texts never give the same bytes. Returns a
 * purpose without a binding as plain text, because stored signing keys and callback secrets were sealed before
 * bindings existed.
 */
const associatedData = (purpose: string, binding: SealBinding): Buffer =>
  Buffer.from(binding.length === 0 ? purpose : JSON.stringify([purpose, ...binding]));

/** A pool of random bytes. A system call for 4,096 bytes takes as long as a system call for 12 bytes. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Returns random bytes of the system's generator, faster than one `crypto.randomBytes` call for each value.
 * Erases the copy in the pool, so that only the caller has the bytes.
 */
export function drawBytes(size: number): Buffer {
  if (size > pool.length) return randomBytes(size);
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const drawn = pool.subarray(used, used + size);
  used += size;
  const bytes = Buffer.from(drawn);
  drawn.fill(0);
  return bytes;
}
