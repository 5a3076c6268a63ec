import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSealer } from '../src/sealing.ts';
import {
  createPurposeSealer,
  createSealers,
  type SealingPurpose,
  sealingPurposes,
} from '../src/sealing-purposes.ts';

const key = { id: 'k1', key: randomBytes(32) };
const sealers = createSealers([key]);
const cannotOpen = 'unable to authenticate';

const pairs = sealingPurposes.flatMap((one) =>
  sealingPurposes.filter((other) => other !== one).map((other) => [one, other] as const),
);

describe('keys by purpose', () => {
  it.each(pairs)(
    'what was sealed for %s does not open for %s, though one key was configured for both',
    (one, other) => {
      const sealed = sealers[one].seal('record', 'Whitfield', ['place']);
      expect(() => sealers[other].open('record', sealed, ['place'])).toThrow(cannotOpen);
      expect(createPurposeSealer(one, [key]).open('record', sealed, ['place'])).toBe('Whitfield');
    },
  );

  const before = createSealer([key]).seal('record', 'Whitfield', []);
  const longLived: readonly SealingPurpose[] = ['signing-key', 'callback'];
  it.each(longLived)(
    '%s opens what was sealed before keys had purposes, also when the key was rolled since',
    (purpose) => {
      const rolled = createPurposeSealer(purpose, [{ id: 'k2', key: randomBytes(32) }, key]);
      for (const sealer of [sealers[purpose], rolled])
        expect(sealer.open('record', before, [])).toBe('Whitfield');
      const sealed = rolled.seal('record', 'Whitfield', []);
      expect(() => createSealer([key]).open('record', sealed, [])).toThrow('not configured');
    },
  );

  it.each(sealingPurposes.filter((purpose) => !longLived.includes(purpose)))(
    '%s opens nothing that was sealed with the configured key itself',
    (purpose) => {
      expect(() => sealers[purpose].open('record', before, [])).toThrow(cannotOpen);
    },
  );

  it('never seal with the configured key itself', () => {
    for (const sealer of Object.values(sealers)) {
      const sealed = sealer.seal('record', 'Whitfield', []);
      expect(() => createSealer([key]).open('record', sealed, [])).toThrow(cannotOpen);
    }
  });
});
