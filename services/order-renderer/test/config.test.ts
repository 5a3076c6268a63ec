import { describe, expect, it } from '@jest/globals';
import { readOrderRendererConfig } from '../src/index.ts';

describe('the configuration of the order renderer', () => {
  it('has the defaults of the platform', () => {
    expect(readOrderRendererConfig({})).toEqual({
      xmlNamespace: 'urn:clinical-launch:online-order:1',
      timeZone: 'Europe/London',
      system: { name: 'Clinical Launch', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      documentWaitMs: 10_000,
      isProduction: false,
    });
  });

  it('takes namespace, zone and mode from the environment', () => {
    const environment = { XML_NS: 'urn:x', TIME_ZONE: 'UTC', NODE_ENV: 'production' };
    const { xmlNamespace, timeZone, isProduction } = readOrderRendererConfig(environment);
    expect([xmlNamespace, timeZone, isProduction]).toEqual(['urn:x', 'UTC', true]);
  });

  it('refuses a zone that does not exist, without printing it', () => {
    const read = () => readOrderRendererConfig({ TIME_ZONE: 'Europe/Barchester' });
    expect(read).toThrow(/TIME_ZONE/);
    expect(read).not.toThrow(/Barchester/);
  });
});
