import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readAuditPagesConfig } from '../src/pages-config.ts';

const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://launch.example' };
const issuer = { AUDIT_OIDC_ISSUER: 'https://id.example', AUDIT_OIDC_CLIENT_ID: 'audit' };
const demoKey = readFileSync(
  new URL('../../../deploy/docker/demo-secrets/audit-session-key', import.meta.url),
  'utf8',
);
const AUDIT_SESSION_KEY = randomBytes(32).toString('base64url');

describe('the pages', () => {
  it('are off in production until an issuer is set', () => {
    expect(readAuditPagesConfig(production)).toBeUndefined();
    expect(readAuditPagesConfig({ ...production, ...issuer, AUDIT_SESSION_KEY })).toMatchObject({
      issuer: 'https://id.example',
      clientId: 'audit',
      rightClaim: 'roles',
      platformUrl: 'https://launch.example',
    });
  });

  it('sign in at the issuer of the demo otherwise', () => {
    expect(readAuditPagesConfig({ PUBLIC_URL: 'http://localhost:8080' })).toMatchObject({
      issuer: 'http://localhost:8080/demo/staff',
      clientId: 'audit-pages',
    });
  });

  it.each([
    ['no key', {}, 'AUDIT_SESSION_KEY is not set'],
    ['a short key', { AUDIT_SESSION_KEY: 'short' }, 'AUDIT_SESSION_KEY must be 32 bytes in Base64URL'],
    [
      'an issuer without TLS',
      { AUDIT_SESSION_KEY, AUDIT_OIDC_ISSUER: 'http://id.example' },
      'AUDIT_OIDC_ISSUER must be an https address in production',
    ],
    ['no client', { AUDIT_SESSION_KEY, AUDIT_OIDC_CLIENT_ID: undefined }, 'AUDIT_OIDC_CLIENT_ID is not set'],
    [
      'the key of the demo',
      { AUDIT_SESSION_KEY: demoKey },
      'AUDIT_SESSION_KEY is the key of the demo, which is publicly known',
    ],
  ])('end the start in production with %s', (_case, settings, problem) => {
    expect(() => readAuditPagesConfig({ ...production, ...issuer, ...settings })).toThrow(problem);
  });
});
