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

/** Encrypts content that leaves the process (ticket contexts, patient data in events) and opens it again. */
export type Sealer = {
  /**
   * Encrypts the JSON of `value` with AES-256-GCM. Purpose and place are associated data (NIST SP 800-38D),
   * so the seal opens nowhere else. The place names the owner of the seal: a ticket, an order, a launch. Both
   * ends list the same texts in the same order. An empty place binds the seal only to its purpose.
   */
  seal(purpose: string, value: unknown, place: SealPlace): string;
  /**
   * @throws Error when the seal was made for another purpose or place, with a key that was removed, or was
   * changed
   */
  open(purpose: string, sealed: string, place: SealPlace): unknown;
  /**
   * Derives 32 bytes that cannot be computed without the key, always the same for the same purpose, text and
   * key. Like `open`, it accepts every key, so earlier values can be derived again after a rotation: store
   * `currentKeyId` with them.
   * @throws Error when the key was removed
   */
  derive(purpose: string, text: string, keyId?: string): Buffer;
  /** The key that currently seals and derives. */
  readonly currentKeyId: string;
};

/** The owner of a seal, as texts that its opener knows from elsewhere than from next to the seal. */
export type SealPlace = readonly string[];

/** 32 bytes with a short key id of letters, digits, `_` and `-`. */
export type SealingKey = { readonly id: string; readonly key: Uint8Array };

const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a sealer. The first key seals; every key opens, so keys can be rotated.
 * @param formerKeys Keys that only open earlier seals. They may share their ids with `keys`.
 * @throws TypeError when there is no key, a key is not 32 bytes, or an id is malformed or repeated
 */
export function createSealer(keys: readonly SealingKey[], formerKeys: readonly SealingKey[] = []): Sealer {
  const [current] = keys;
  if (current === undefined) throw new TypeError('A sealer needs at least one key');
  if (keys.some(({ key }) => key.length !== 32)) throw new TypeError('A sealing key must have 32 bytes');
  // Key objects are created once, which halves the time of a sealing.
  const openingKeys = Map.groupBy([...keys, ...formerKeys], ({ id }) => id);
  const byId = new Map([...openingKeys].map(([id, its]) => [id, its.map(({ key }) => createSecretKey(key))]));
  const currentKey = createSecretKey(current.key);
  // With either error, it could not open its own seals again.
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
      // As JSON, so that no two pairs of purpose and text have the same bytes.
      return createHmac('sha256', key)
        .update(JSON.stringify([purpose, text]))
        .digest();
    },
    seal(purpose, value, place) {
      const iv = drawBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv).setAAD(associatedData(purpose, place));
      const body = cipher.update(JSON.stringify(value), 'utf8');
      // GCM encrypts byte by byte, so nothing is left for the end but the tag.
      cipher.final();
      return `${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(purpose, sealed, place) {
      const dot = sealed.indexOf('.');
      const [key, ...otherKeys] = byId.get(sealed.slice(0, dot)) ?? [];
      if (key === undefined) throw new Error('The key that sealed this value is not configured');
      const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
      const data = associatedData(purpose, place);
      for (const former of otherKeys) {
        const text = tryToDecrypt(bytes, former, data);
        if (text !== undefined) return JSON.parse(text);
      }
      return JSON.parse(decrypt(bytes, key, data));
    },
  };
}

/** @throws Error when the bytes were not sealed with this key and these associated data */
function decrypt(bytes: Buffer, key: KeyObject, associated: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(associated)
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  const text = decipher.update(bytes.subarray(ivBytes + tagBytes));
  // Throws unless the tag fits.
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
 * Returns the associated data as JSON, so that no two lists of texts have the same bytes. The purpose alone
 * is written as it is, because seals without a place (signing keys, callback secrets) are older than places.
 */
const associatedData = (purpose: string, place: SealPlace): Buffer =>
  Buffer.from(place.length === 0 ? purpose : JSON.stringify([purpose, ...place]));

/** A pool of random bytes: each system call costs as much for 4,096 bytes as for 12. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Draws unpredictable bytes from the system's generator (`crypto.randomBytes`), for values that a request
 * needs several times. Only the caller has the bytes: the copy here is erased.
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
