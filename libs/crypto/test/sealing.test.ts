import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSealer } from '../src/sealing.ts';

const older = { id: 'older', key: randomBytes(32) };
const newer = { id: 'newer', key: randomBytes(32) };
const sealer = createSealer([newer]);
const notAuthentic = 'unable to authenticate';

describe('a sealed value', () => {
  it('opens to the original value', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.array(fc.string()), (purpose, value, place) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        expect(sealer.open(purpose, sealer.seal(purpose, value, place), place)).toEqual(json);
      }),
    );
  });

  it('does not reveal its content, and differs each time the same value is sealed', () => {
    const seals = [sealer.seal('order', 'Whitfield', []), sealer.seal('order', 'Whitfield', [])];
    expect(seals[0]).not.toBe(seals[1]);
    for (const seal of seals) {
      expect(seal).toMatch(/^newer\.[A-Za-z0-9_-]+$/);
      expect(Buffer.from(seal.slice('newer.'.length), 'base64url').toString('latin1')).not.toContain(
        'Whitfield',
      );
    }
  });

  it('does not open for another purpose', () => {
    const sealed = sealer.seal('ticket context', 'Whitfield', []);
    expect(() => sealer.open('order', sealed, [])).toThrow(notAuthentic);
    expect(sealer.open('ticket context', sealed, [])).toBe('Whitfield');
  });

  it('does not open with the ids of another owner, even if the joined ids give the same text', () => {
    const place = ['order 1', 'launch 1', 'pms-demo'];
    const sealed = sealer.seal('order', 'Whitfield', place);
    for (const other of [
      [],
      ['order 1', 'launch 1'],
      ['order 1', 'launch 1', 'pms-other'],
      ['launch 1', 'order 1', 'pms-demo'],
      ['order 1', 'launch 1","pms-demo'],
      [...place, ''],
    ]) {
      expect(() => sealer.open('order', sealed, other)).toThrow(notAuthentic);
    }
    expect(sealer.open('order', sealed, place)).toBe('Whitfield');
  });

  it('does not open if any byte was changed', () => {
    const sealed = sealer.seal('order', { family: 'Whitfield' }, []);
    const bytes = Buffer.from(sealed.slice('newer.'.length), 'base64url');
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      expect(() => sealer.open('order', `newer.${changed.toString('base64url')}`, [])).toThrow(notAuthentic);
    }
  });

  it('does not open if it was truncated', () => {
    const sealed = sealer.seal('order', 1, []);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => sealer.open('order', sealed.slice(0, length), [])).toThrow(
        /not configured|Invalid|authenticat/,
      );
    }
  });
});

describe('a sealer with rotated keys', () => {
  it('opens values sealed with the older key, and seals with the first configured key', () => {
    const rolled = createSealer([newer, older]);
    const before = createSealer([older]).seal('order', 'Whitfield', []);
    expect(rolled.open('order', before, [])).toBe('Whitfield');
    expect(sealer.open('order', rolled.seal('order', 'Okonkwo', []), [])).toBe('Okonkwo');
  });

  it('does not open a value sealed with a removed key, even if a new key has the same id', () => {
    const sealed = createSealer([older]).seal('order', 1, []);
    expect(() => sealer.open('order', sealed, [])).toThrow('not configured');
    const another = createSealer([{ id: 'older', key: randomBytes(32) }]);
    expect(() => another.open('order', sealed, [])).toThrow(notAuthentic);
  });
});

describe('a sealer', () => {
  it.each([
    ['without a key', []],
    ['with a key of 31 bytes', [{ id: 'short', key: randomBytes(31) }]],
    ['with two keys with the same id', [older, { id: 'older', key: randomBytes(32) }]],
    ['with an id that contains the separator', [{ id: 'a.b', key: randomBytes(32) }]],
  ])('cannot be created %s', (_fault, keys) => {
    expect(() => createSealer(keys)).toThrow(TypeError);
  });
});

describe('a derived key', () => {
  it('has 32 bytes, and is the same for the same purpose, text and key', () => {
    const derived = sealer.derive('successor', 'one');
    expect(derived).toHaveLength(32);
    expect(createSealer([newer]).derive('successor', 'one')).toEqual(derived);
    expect(createSealer([{ id: 'renamed', key: newer.key }]).derive('successor', 'one')).toEqual(derived);
  });

  it('differs for another purpose, text or key, even if the joined purpose and text are the same', () => {
    const derived = [
      sealer.derive('successor', 'one'),
      sealer.derive('successor', 'two'),
      sealer.derive('session', 'one'),
      sealer.derive('successorone', ''),
      sealer.derive('', 'successorone'),
      sealer.derive('successor","one', ''),
      createSealer([older]).derive('successor', 'one'),
    ];
    expect(new Set(derived.map((bytes) => bytes.toString('hex'))).size).toBe(derived.length);
  });

  it('is not the HMAC with the sealing key itself', () => {
    const text = JSON.stringify(['successor', 'one']);
    const naive = createHmac('sha256', newer.key).update(text).digest();
    expect(sealer.derive('successor', 'one')).not.toEqual(naive);
  });

  it('is derived from the first configured key, or from the older key whose id is passed', () => {
    const before = createSealer([older]);
    const rolled = createSealer([newer, older]);
    expect(rolled.currentKeyId).toBe('newer');
    expect(rolled.derive('successor', 'one')).toEqual(sealer.derive('successor', 'one'));
    expect(rolled.derive('successor', 'one', before.currentKeyId)).toEqual(before.derive('successor', 'one'));
    expect(() => sealer.derive('successor', 'one', 'older')).toThrow('not configured');
  });
});
