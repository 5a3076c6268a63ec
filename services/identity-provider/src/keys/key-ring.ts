import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { temporarilyUnavailable } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Storage } from '@clinical-launch/storage/storage';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { IssuingRealm, Realms, SigningAlgorithm } from '../domain/realms.ts';
import {
  isIdle,
  keyStateAt,
  keysReadEveryMs,
  keysTrustedForMs,
  keysWhere,
  planKeys,
} from '../domain/signing-key-lifecycle.ts';
import { openSigningKeyTable, type SigningKeyTable, type StoredKey } from './signing-key-table.ts';

type KeyRingDependencies = {
  readonly realms: Realms;
  readonly rotateEveryDays: number;
  readonly storage: Storage;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly logger: Logger;
};

type KnownKeys = {
  readonly keys: readonly StoredKey[];
  readonly signers: ReadonlyMap<string, SignFunction>;
  readonly readAt: number;
};

type Signer = {
  readonly algorithm: SigningAlgorithm;
  /**
   * Signs claims as a JWT in compact form (RFC 7515 section 7.1) with the type `at+jwt` (RFC 9068 section
   * 2.1), `JWT` or `logout+jwt`.
   */
  sign(type: 'at+jwt' | 'JWT' | 'logout+jwt', claims: object): string;
};

const readAgainAfterFailureMs = 5000;

/**
 * The signing keys that this replica has read. Reads the keys again if they are used more than a minute after
 * the last read. Creates and removes keys as signing-key-lifecycle.ts defines, and decrypts each private key
 * once. If the database is down, the known keys continue to sign until another replica could have replaced
 * them.
 */
export class KeyRing {
  readonly #dependencies: KeyRingDependencies;
  readonly #table: SigningKeyTable;
  #known: KnownKeys = { keys: [], signers: new Map(), readAt: Number.NEGATIVE_INFINITY };
  #readAgainAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  private constructor(dependencies: KeyRingDependencies, table: SigningKeyTable) {
    this.#dependencies = dependencies;
    this.#table = table;
  }

  /**
   * Opens the table, and creates a signing key for every realm that has no key.
   * @throws Error if this fails
   */
  static async open(dependencies: KeyRingDependencies): Promise<KeyRing> {
    const ring = new KeyRing(dependencies, await openSigningKeyTable(dependencies.storage));
    await ring.#read();
    return ring;
  }

  /**
   * Returns the current signer. Use one signer for all tokens of an answer, so that all have the same key.
   * @throws ServiceError 503 if the keys are unavailable
   */
  async signer(realm: IssuingRealm): Promise<Signer> {
    const known = await this.#upToDate(realm);
    const [key] = keysWhere('signs', keysOf(realm, known.keys), this.#dependencies.clock.now());
    const sign = key === undefined ? undefined : known.signers.get(key.kid);
    if (key === undefined || sign === undefined) {
      throw keysOutOfReach(new Error(`The realm ${realm.name} has no signing key`));
    }
    const { algorithm, kid } = key;
    return {
      algorithm,
      sign: (type, claims) => {
        const input = `${base64Url({ alg: algorithm, typ: type, kid })}.${base64Url(claims)}`;
        return `${input}.${sign(input).toString('base64url')}`;
      },
    };
  }

  /**
   * Returns the published keys of a realm. The keys verify past, current and future tokens of the realm.
   * @throws ServiceError 503 if the keys are unavailable
   */
  async publicKeys(realm: IssuingRealm): Promise<JWK[]> {
    const { keys } = await this.#upToDate(realm);
    const published = keysWhere('isPublished', keysOf(realm, keys), this.#dependencies.clock.now());
    return published.map(({ publicJwk }) => publicJwk);
  }

  /** Returns the time at which the newest known key of each realm is due for replacement. */
  dueAt(): { readonly realm: string; readonly at: number }[] {
    const { realms, rotateEveryDays } = this.#dependencies;
    return realms.all().flatMap((realm) => {
      const newest = keysOf(realm, this.#known.keys).at(-1);
      return newest === undefined
        ? []
        : [{ realm: realm.name, at: newest.signsFrom + rotateEveryDays * 86_400_000 }];
    });
  }

  async #upToDate(realm: IssuingRealm): Promise<KnownKeys> {
    // A realm that was added to the registry after the last read has no key yet. A realm that was missing
    // from the registry at the last read has keys, but they have not been decrypted.
    const { keys, signers } = this.#known;
    const isKnown = keysOf(realm, keys).some(({ kid }) => signers.has(kid));
    if (!isKnown || this.#dependencies.clock.now() >= this.#readAgainAt) {
      this.#reading ??= this.#tryToRead().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#known;
  }

  async #tryToRead(): Promise<void> {
    const { clock, logger } = this.#dependencies;
    try {
      await this.#read();
    } catch (cause) {
      if (clock.now() - this.#known.readAt >= keysTrustedForMs) throw keysOutOfReach(cause);
      logger.error({ err: cause }, 'the signing keys could not be read, so the known keys stay in use');
      this.#readAgainAt = clock.now() + readAgainAfterFailureMs;
    }
  }

  async #read(): Promise<void> {
    const readAt = this.#dependencies.clock.now();
    let keys = await this.#table.read();
    if (this.#plansFor(keys, readAt).some(({ plan }) => !isIdle(plan))) keys = await this.#change();
    const signers = this.#openNew(keys, readAt);
    this.#known = { keys, signers, readAt };
    this.#readAgainAt = readAt + keysReadEveryMs;
  }

  #plansFor(keys: readonly StoredKey[], now: number) {
    const { realms, rotateEveryDays } = this.#dependencies;
    return realms.all().map((realm) => {
      const { signingAlgorithm: algorithm, accessTokenSeconds } = realm;
      const policy = { algorithm, accessTokenSeconds, rotateEveryDays };
      return { realm, plan: planKeys(keysOf(realm, keys), policy, now) };
    });
  }

  #change(): Promise<StoredKey[]> {
    const { clock, logger, sealer } = this.#dependencies;
    return this.#table.change(async (kept) => {
      for (const { realm, plan } of this.#plansFor(kept.keys, clock.now())) {
        await kept.prolong(plan.prolong, realm.accessTokenSeconds);
        await kept.remove(plan.remove);
        if (plan.create === undefined) continue;
        const about = { realm: realm.name, algorithm: realm.signingAlgorithm };
        const { signsFrom } = plan.create;
        const pair = await createKeyPair(about, sealer);
        await kept.insert({ ...about, ...pair, signsFrom, longestTokenSeconds: realm.accessTokenSeconds });
        logger.info({ ...about, kid: pair.kid, signsFrom: new Date(signsFrom) }, 'created a signing key');
      }
    });
  }

  /** Decrypts the private keys that sign or will sign. Reuses private keys that are already decrypted. */
  #openNew(keys: readonly StoredKey[], now: number): Map<string, SignFunction> {
    const signing = this.#dependencies.realms.all().flatMap((realm) => {
      const ofRealm = keysOf(realm, keys);
      return ofRealm.filter((key) => ['next', 'current'].includes(keyStateAt(key, ofRealm, now)));
    });
    const opened = (key: StoredKey) =>
      this.#known.signers.get(key.kid) ?? openPrivateKey(key, this.#dependencies.sealer);
    return new Map(signing.map((key) => [key.kid, opened(key)]));
  }
}

const base64Url = (part: object) => Buffer.from(asciiJson(part), 'ascii').toString('base64url');

function keysOf(realm: IssuingRealm, keys: readonly StoredKey[]): StoredKey[] {
  return keys.filter((key) => key.realm === realm.name);
}

const keysOutOfReach = (cause: unknown) =>
  temporarilyUnavailable('The signing keys are not available', { cause });

/**
 * Returns JSON in ASCII, with every other character as `\uXXXX`. Clients that decode a token with `atob`
 * would read each byte of UTF-8 as a character.
 */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Signs the input of a JWS and returns the signature (RFC 7515 section 5.1, steps 5 and 6). */
type SignFunction = (input: string) => Buffer;

const privateJwk = compileSchema(
  Type.Object({ kty: Type.Union([Type.Literal('RSA'), Type.Literal('EC'), Type.Literal('OKP')]) }),
);

/** Creates a key pair. Its `kid` is its thumbprint (RFC 7638), so no two keys have the same `kid`. */
async function createKeyPair(
  { realm, algorithm }: { realm: string; algorithm: SigningAlgorithm },
  sealer: Sealer,
): Promise<Pick<StoredKey, 'kid' | 'publicJwk' | 'sealedPrivateJwk'>> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const bare = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(bare);
  const publicJwk: JWK = { ...bare, kid, alg: algorithm, use: 'sig' };
  const sealedPrivateJwk = sealer.seal(sealPurpose(realm, kid), await exportJWK(pair.privateKey), []);
  return { kid, publicJwk, sealedPrivateJwk };
}

/**
 * Decrypts the private part of a stored key, and returns its signature function. The function signs
 * synchronously. The overhead of the thread pool would exceed the time of an ES256 or EdDSA signature, and
 * would make RS256 a seventh slower.
 * @throws Error if none of the sealing keys decrypts it
 */
function openPrivateKey(
  { realm, kid, algorithm, sealedPrivateJwk }: StoredKey,
  sealer: Sealer,
): SignFunction {
  try {
    const opened = sealer.open(sealPurpose(realm, kid), sealedPrivateJwk, []);
    if (!privateJwk.is(opened)) throw new TypeError('The sealed content is not a private key');
    return signerOf(algorithm, createPrivateKey({ key: opened, format: 'jwk' }));
  } catch (cause) {
    throw new Error(`None of the sealing keys opens the signing key ${kid} of the realm ${realm}`, { cause });
  }
}

/** Creates the signature function of a key (RFC 7518 sections 3.3 and 3.4, RFC 8037 section 3.1). */
function signerOf(algorithm: SigningAlgorithm, key: KeyObject): SignFunction {
  switch (algorithm) {
    case 'RS256':
      return (input) => sign('sha256', Buffer.from(input, 'ascii'), key);
    case 'ES256':
      return (input) => sign('sha256', Buffer.from(input, 'ascii'), { key, dsaEncoding: 'ieee-p1363' });
    case 'EdDSA':
      return (input) => sign(null, Buffer.from(input, 'ascii'), key);
  }
}

/**
 * Returns the purpose with which a private key is encrypted. The purpose must not change, because a stored
 * key can be decrypted only with the same purpose.
 */
const sealPurpose = (realm: string, kid: string) => `identity-provider signing key ${realm} ${kid}`;
