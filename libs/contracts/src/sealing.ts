import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

/** Encrypts what leaves the process (ticket contexts, patient data in events) and opens it again. */
export type Sealer = {
  /** AES-256-GCM over the JSON of `value`; `purpose` is bound in, so a seal cannot be moved to another place. */
  seal(purpose: string, value: unknown): string;
  /** @throws Error when the seal was made for another purpose, with a key that is gone, or was changed. */
  open(purpose: string, sealed: string): unknown;
  /**
   * 32 bytes that nobody computes without the key, and that are the same again for the same purpose, text and key. Like
   * `open` it knows every key, so what was derived before a roll can be derived again: keep `currentKeyId` beside it.
   * @throws Error when the key is gone.
   */
  derive(purpose: string, text: string, keyId?: string): Buffer;
  /** The key that seals and derives at present. */
  readonly currentKeyId: string;
};

const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a sealer. The first key seals; every key opens, so keys can be rolled.
 * @param keys 32 bytes each, by a short key id of letters, digits, `_` and `-`.
 * @throws TypeError when there is no key, one is not 32 bytes, or an id is of another form or there twice.
 */
export function createSealer(keys: readonly { id: string; key: Uint8Array }[]): Sealer {
  const [current] = keys;
  if (current === undefined) throw new TypeError('A sealer needs a key');
  if (keys.some(({ key }) => key.length !== 32)) throw new TypeError('A sealing key has 32 bytes');
  // Key objects: made once, they save a sealing half of its time.
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  const currentKey = createSecretKey(current.key);
  // Either would seal what it cannot open again.
  if (byId.size < keys.length) throw new TypeError('A sealing key has an id of its own');
  if (keys.some(({ id }) => !/^[\w-]+$/.test(id)))
    throw new TypeError('A key id has letters, digits, _ and -');
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
      if (key === undefined) throw new Error('The key that derived this is not configured');
      // As JSON, so that no two pairs of purpose and text are the same bytes.
      return createHmac('sha256', key)
        .update(JSON.stringify([purpose, text]))
        .digest();
    },
    seal(purpose, value) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return `${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(purpose, sealed) {
      const dot = sealed.indexOf('.');
      const key = byId.get(sealed.slice(0, dot));
      if (key === undefined) throw new Error('The key that sealed this is not configured');
      const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return JSON.parse(text.toString('utf8'));
    },
  };
}
