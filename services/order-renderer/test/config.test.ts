import { readRegistrySetting } from '@clinical-launch/trust/trust';
import { describe, expect, it } from '@jest/globals';
import { readOrderRendererConfig } from '../src/config.ts';

const publicUrl = 'https://launch.example';

describe('readOrderRendererConfig', () => {
  it('returns the defaults of the platform', () => {
    expect(readOrderRendererConfig({ PUBLIC_URL: publicUrl })).toEqual({
      xmlNamespace: 'urn:clinical-launch:online-order:1',
      timeZone: 'Europe/London',
      system: { name: 'Clinical Launch', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      documentWaitMs: 10_000,
      callbacks: {
        publicUrl,
        allowedNetworks: ['127.0.0.0/8', '::1/128'],
        connectTimeoutMs: 5000,
        timeoutMs: 15_000,
        pollMs: 5000,
        slots: 16,
      },
      isProduction: false,
    });
  });

  it('reads the namespace, time zone and mode from the environment', () => {
    const environment = { PUBLIC_URL: publicUrl, XML_NS: 'urn:x', TIME_ZONE: 'UTC', NODE_ENV: 'production' };
    const { xmlNamespace, timeZone, isProduction } = readOrderRendererConfig(environment);
    expect([xmlNamespace, timeZone, isProduction]).toEqual(['urn:x', 'UTC', true]);
  });

  it('rejects an unknown time zone without printing it', () => {
    const read = () => readOrderRendererConfig({ PUBLIC_URL: publicUrl, TIME_ZONE: 'Europe/Barchester' });
    expect(read).toThrow(/TIME_ZONE/);
    expect(read).not.toThrow(/Barchester/);
  });

  it('reads PLATFORM_URL and the allowed networks from the environment', () => {
    const { callbacks } = readOrderRendererConfig({
      PUBLIC_URL: publicUrl,
      PLATFORM_URL: 'http://edge:8080',
      OUTBOUND_ALLOWED_NETWORKS: '10.20.0.0/16, fd00:1::/32',
    });
    expect(callbacks.platformUrl).toBe('http://edge:8080');
    expect(callbacks.allowedNetworks).toEqual(['10.20.0.0/16', 'fd00:1::/32']);
  });

  it('allows no private network in production by default', () => {
    const { callbacks } = readOrderRendererConfig({ PUBLIC_URL: publicUrl, NODE_ENV: 'production' });
    expect(callbacks.allowedNetworks).toEqual([]);
  });

  it.each(['10.20.0.0', '10.20.0.0/33', 'pms.example/8', '10.20.0.0/16/1', 'fd00::/129', '/8'])(
    'rejects the network %s without printing it',
    (network) => {
      const read = () =>
        readOrderRendererConfig({ PUBLIC_URL: publicUrl, OUTBOUND_ALLOWED_NETWORKS: network });
      expect(read).toThrow(/OUTBOUND_ALLOWED_NETWORKS must be networks such as 10\.1\.0\.0\/16/);
      expect(read).not.toThrow(new RegExp(`: .*${network}`));
    },
  );

  it('requires PUBLIC_URL, and readRegistrySetting requires an existing registry file', () => {
    expect(() => readOrderRendererConfig({})).toThrow('PUBLIC_URL is required');
    expect(() => readRegistrySetting({})).toThrow(/PUBLIC_URL is required[^]*REGISTRY_FILE is required/);
    const absent = { PUBLIC_URL: publicUrl, REGISTRY_FILE: '/absent/registry.json' };
    expect(() => readRegistrySetting(absent)).toThrow(/REGISTRY_FILE: .*ENOENT/);
  });
});
