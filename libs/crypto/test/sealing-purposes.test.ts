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

describe('a purpose sealer', () => {
  it.each(pairs)(
    'for %s seals text that the sealer for %s cannot open, although both use the same configured key',
    (one, other) => {
      const sealed = sealers[one].seal('record', 'Whitfield', ['place']);
      expect(() => sealers[other].open('record', sealed, ['place'])).toThrow(cannotOpen);
      expect(createPurposeSealer(one, [key]).open('record', sealed, ['place'])).toBe('Whitfield');
    },
  );

  const before = createSealer([key]).seal('record', 'Whitfield', []);
  const longLived: readonly SealingPurpose[] = ['signing-key', 'callback'];
  it.each(longLived)(
    'for %s opens text that an early release sealed with the configured key itself, even after a key rotation',
    (purpose) => {
      const rolled = createPurposeSealer(purpose, [{ id: 'k2', key: randomBytes(32) }, key]);
      for (const sealer of [sealers[purpose], rolled])
        expect(sealer.open('record', before, [])).toBe('Whitfield');
      const sealed = rolled.seal('record', 'Whitfield', []);
      expect(() => createSealer([key]).open('record', sealed, [])).toThrow('not configured');
    },
  );

  it.each(sealingPurposes.filter((purpose) => !longLived.includes(purpose)))(
    'for %s does not open text that was sealed with the configured key itself',
    (purpose) => {
      expect(() => sealers[purpose].open('record', before, [])).toThrow(cannotOpen);
    },
  );

  it('never seals with the configured key itself', () => {
    for (const sealer of Object.values(sealers)) {
      const sealed = sealer.seal('record', 'Whitfield', []);
      expect(() => createSealer([key]).open('record', sealed, [])).toThrow(cannotOpen);
    }
  });
});
