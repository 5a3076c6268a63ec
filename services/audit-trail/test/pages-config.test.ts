import { randomBytes } from 'node:crypto';
import { ed25519KeyOf } from '@clinical-launch/crypto/ed25519-keys';
import { describe, expect, it } from '@jest/globals';
import { readAuditTrailConfig } from '../src/config.ts';
import { readAuditPagesConfig } from '../src/pages-config.ts';

const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://launch.example' };
const issuer = { AUDIT_OIDC_ISSUER: 'https://id.example', AUDIT_OIDC_CLIENT_ID: 'audit' };
describe('readAuditPagesConfig', () => {
  it('leaves the pages off in production until an issuer is set', () => {
    expect(readAuditPagesConfig(production)).toBeUndefined();
    expect(readAuditPagesConfig({ ...production, ...issuer })).toMatchObject({
      issuer: 'https://id.example',
      clientId: 'audit',
      rightClaim: 'roles',
      platformUrl: 'https://launch.example',
    });
  });

  it('uses the issuer of the demo outside production', () => {
    expect(readAuditPagesConfig({ PUBLIC_URL: 'http://localhost:8080' })).toMatchObject({
      issuer: 'http://localhost:8080/demo/staff',
      clientId: 'audit-pages',
    });
  });

  it.each([
    [
      'an issuer without TLS',
      { AUDIT_OIDC_ISSUER: 'http://id.example' },
      'AUDIT_OIDC_ISSUER must be an https address in production',
    ],
    ['a missing client', { AUDIT_OIDC_CLIENT_ID: undefined }, 'AUDIT_OIDC_CLIENT_ID is not set'],
  ])('throws in production for %s', (_case, settings, problem) => {
    expect(() => readAuditPagesConfig({ ...production, ...issuer, ...settings })).toThrow(problem);
  });
});

it('the pages accept sessions of other replicas, but no session that was sealed with an earlier audit key', () => {
  const sealerWith = (...keys: object[]) => {
    const environment = { PUBLIC_URL: 'http://localhost:8080', AUDIT_SIGNING_KEY: JSON.stringify({ keys }) };
    const { pages } = readAuditTrailConfig(environment);
    if (pages === undefined) throw new Error('There are no pages');
    return pages.sealer;
  };
  const [before, after] = [ed25519KeyOf(randomBytes(32)), ed25519KeyOf(randomBytes(32))];
  const cookie = sealerWith(before).seal('session', { user: 'a' }, []);
  expect(sealerWith(before).open('session', cookie, [])).toEqual({ user: 'a' });
  expect(() => sealerWith(after, before).open('session', cookie, [])).toThrow('unable to authenticate');
});
