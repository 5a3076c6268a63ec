import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { drawBytes } from './random.ts';

/** Encrypts what leaves the process (ticket contexts, patient data in events) and opens it again. */
export type Sealer = {
  /**
   * Encrypts the JSON of `value` with AES-256-GCM. Purpose and place are associated data (NIST SP 800-38D), so the seal
   * opens nowhere else. The place names what the seal belongs to: a ticket, an order, a launch. Both ends list the same
   * texts in the same order; a place of no text binds the seal to its purpose alone.
   */
  seal(purpose: string, value: unknown, place: SealPlace): string;
  /** @throws Error when the seal was made for another purpose or place, with a key that is gone, or was changed. */
  open(purpose: string, sealed: string, place: SealPlace): unknown;
  /**
   * 32 bytes that nobody computes without the key, and that are the same again for the same purpose, text and key. Like
   * `open` it knows every key, so what was derived before a roll can be derived again: keep `currentKeyId` beside it.
   * @throws Error when the key is gone.
   */
  derive(purpose: string, text: string, keyId?: string): Buffer;
  /** The key that seals and derives at present. */
  readonly currentKeyId: string;
};

/** What a seal belongs to, as texts that the one who opens it knows from elsewhere than from beside the seal. */
export type SealPlace = readonly string[];

/** 32 bytes by a short key id of letters, digits, `_` and `-`. */
export type SealingKey = { readonly id: string; readonly key: Uint8Array };

const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a sealer. The first key seals; every key opens, so keys can be rolled.
 * @param formerKeys Keys that open what was sealed with them, and do nothing else. They may share their ids with `keys`.
 * @throws TypeError when there is no key, one is not 32 bytes, or an id is of another form or there twice.
 */
export function createSealer(keys: readonly SealingKey[], formerKeys: readonly SealingKey[] = []): Sealer {
  const [current] = keys;
  if (current === undefined) throw new TypeError('A sealer needs a key');
  if (keys.some(({ key }) => key.length !== 32)) throw new TypeError('A sealing key has 32 bytes');
  // Key objects: made once, they save a sealing half of its time.
  const openingKeys = Map.groupBy([...keys, ...formerKeys], ({ id }) => id);
  const byId = new Map([...openingKeys].map(([id, its]) => [id, its.map(({ key }) => createSecretKey(key))]));
  const currentKey = createSecretKey(current.key);
  // Either would seal what it cannot open again.
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new TypeError('A sealing key has an id of its own');
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
    seal(purpose, value, place) {
      const iv = drawBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey, iv).setAAD(associatedData(purpose, place));
      const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return `${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(purpose, sealed, place) {
      const dot = sealed.indexOf('.');
      const [key, ...otherKeys] = byId.get(sealed.slice(0, dot)) ?? [];
      if (key === undefined) throw new Error('The key that sealed this is not configured');
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

/** @throws Error when the bytes were not sealed with this key and these associated data. */
function decrypt(bytes: Buffer, key: KeyObject, associated: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(associated)
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
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
 * As JSON, so that no two lists of texts are the same bytes. The purpose alone is written as it is: what lies sealed
 * without a place (signing keys, callback secrets) was sealed before there were places.
 */
const associatedData = (purpose: string, place: SealPlace): Buffer =>
  Buffer.from(place.length === 0 ? purpose : JSON.stringify([purpose, ...place]));
