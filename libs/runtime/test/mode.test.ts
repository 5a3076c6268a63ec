import { describe, expect, it } from '@jest/globals';
import { assertPublicAddresses, isProduction } from '../src/environment.ts';

describe('NODE_ENV', () => {
  it.each([{}, { NODE_ENV: '' }, { NODE_ENV: 'development' }, { NODE_ENV: 'demo' }, { NODE_ENV: 'test' }])(
    'does not mean production in the environment %j',
    (environment) => expect(isProduction(environment)).toBe(false),
  );

  it('means production if it is `production`', () =>
    expect(isProduction({ NODE_ENV: 'production' })).toBe(true));

  it.each(['prod', 'Production', 'PRODUCTION', 'production ', 'staging', 'live', 'true'])(
    'is refused with an unknown value, which may be a misspelt `production`: %j',
    (mode) => {
      const read = () => isProduction({ NODE_ENV: mode });
      expect(read).toThrow('NODE_ENV must be one of development, demo, test, production');
    },
  );
});

describe('the public addresses of the platform', () => {
  const insecure = { PUBLIC_URL: 'http://launch.example', OLTR_SERVER: 'http://oltr.example' };

  it('must all be https in production', () => {
    const check = () => assertPublicAddresses({ ...insecure, NODE_ENV: 'production' });
    expect(check).toThrow(/PUBLIC_URL must be an https address[^]*OLTR_SERVER must be an https address/);
    expect(check).not.toThrow('example');
  });

  it('may be http in other modes', () => expect(() => assertPublicAddresses(insecure)).not.toThrow());
});
