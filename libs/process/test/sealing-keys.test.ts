import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPurposeSealer, sealingPurposes } from '@clinical-launch/crypto/sealing-purposes';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import { describe, expect, it } from '@jest/globals';
import { openSealers } from '../src/sealing-keys.ts';
import { withSecretFiles } from '../src/secret-files.ts';

const bytes = randomBytes(32);
const other = randomBytes(32);
const setting = (id: string, key: Uint8Array) => `${id}:${Buffer.from(key).toString('base64url')}`;
const demoKey = createHash('sha256').update('clinical-launch demo sealing key').digest();
const production = { NODE_ENV: 'production' };

const problemsOf = (environment: Environment, terms?: { acceptsShared: boolean }): readonly string[] => {
  try {
    openSealers(environment, sealingPurposes, terms);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
};

const settings = [
  'SEALING_KEYS_LAUNCH',
  'SEALING_KEYS_DESKTOP',
  'SEALING_KEYS_ACCESS_TOKEN',
  'SEALING_KEYS_SIGNING_KEY',
  'SEALING_KEYS_ORDER',
  'SEALING_KEYS_CALLBACK',
];

describe('the sealing keys of a service in production', () => {
  it('must be set for each purpose, and a single key for all purposes is not enough', () => {
    const missing = settings.map((name) => `${name} is not set`);
    expect(problemsOf(production)).toEqual(missing);
    expect(problemsOf({ ...production, SEALING_KEYS: setting('k1', bytes) })).toEqual(missing);
    const two = {
      ...production,
      SEALING_KEYS_LAUNCH: setting('k1', bytes),
      SEALING_KEYS_ORDER: setting('k1', other),
    };
    expect(Object.keys(openSealers(two, ['launch', 'order']))).toEqual(['launch', 'order']);
  });

  it('must not be demo keys in any setting', () => {
    const environment = Object.fromEntries(settings.map((name) => [name, setting('mine', demoKey)]));
    expect(problemsOf({ ...production, ...environment })).toEqual(
      settings.map((name) => `${name} contains the key of the demo, which is publicly known`),
    );
    const beside = `${setting('k1', bytes)},${setting('mine', demoKey)}`;
    expect(problemsOf({ ...production, ...environment, SEALING_KEYS_ORDER: beside })).toContain(
      'SEALING_KEYS_ORDER contains the key of the demo, which is publicly known',
    );
    expect(
      problemsOf({ ...production, SEALING_KEYS: setting('k', demoKey) }, { acceptsShared: true }),
    ).toEqual(['SEALING_KEYS contains the key of the demo, which is publicly known']);
  });

  it('can come from one setting if a single process runs all services', () => {
    expect(problemsOf(production, { acceptsShared: true })).toEqual(['SEALING_KEYS is not set']);
    expect(
      problemsOf({ ...production, SEALING_KEYS: setting('k1', bytes) }, { acceptsShared: true }),
    ).toEqual([]);
  });
});

describe('a setting for sealing keys', () => {
  it.each([
    ['a missing key', 'k1'],
    ['a key of 31 bytes', setting('k1', randomBytes(31))],
    ['an invalid id', setting('k.1', bytes)],
    ['an invalid second entry', `${setting('k1', bytes)},k2:`],
  ])('is reported by name, without its value, if it has %s', (_fault, value) => {
    const [problem, ...more] = problemsOf({ SEALING_KEYS_ORDER: value });
    expect(more).toEqual([]);
    expect(problem).toMatch(/^SEALING_KEYS_ORDER must be id:key/);
    expect(problem).not.toContain(bytes.toString('base64url'));
  });

  it('is reported if it has two keys with the same id', () => {
    const value = `${setting('k1', bytes)},${setting('k1', other)}`;
    expect(problemsOf({ SEALING_KEYS_ORDER: value })).toEqual([
      'SEALING_KEYS_ORDER has two keys with the same id',
    ]);
  });

  it('overrides SEALING_KEYS for its purpose, and its first key seals', () => {
    const environment = {
      SEALING_KEYS: setting('k1', bytes),
      SEALING_KEYS_ORDER: ` ${setting('k2', other)} , ${setting('k1', bytes)}=`,
    };
    const { order, launch } = openSealers(environment, ['order', 'launch']);
    expect([order.currentKeyId, launch.currentKeyId]).toEqual(['k2', 'k1']);
    const sealed = createPurposeSealer('order', [{ id: 'k1', key: bytes }]).seal('record', 1, []);
    expect(order.open('record', sealed, [])).toBe(1);
  });

  it('can be read from a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sealing-keys-'));
    try {
      const file = join(directory, 'order');
      await writeFile(file, `${setting('k1', bytes)}\n`);
      const environment = withSecretFiles({ ...production, SEALING_KEYS_ORDER_FILE: file });
      expect(openSealers(environment, ['order']).order.currentKeyId).toBe('k1');
      expect(() => withSecretFiles({ SEALING_KEYS_ORDER_FILE: `${file}-gone` })).toThrow(
        'SEALING_KEYS_ORDER_FILE cannot be read',
      );
      expect(withSecretFiles({ PATIENT_PSEUDONYM_KEY_FILE: file })).toMatchObject({
        PATIENT_PSEUDONYM_KEY: setting('k1', bytes),
      });
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
