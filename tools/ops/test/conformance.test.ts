import { createHmac, type JsonWebKey, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { junitOf } from '@clinical-launch/conformance/results';
import type { ReportedRequirement, RunReport } from '@clinical-launch/conformance/run';
import { signStatement } from '@clinical-launch/conformance/statement';
import { ed25519KeyOf, parseEd25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { runOpsHere } from './run-ops.ts';

const platform = 'https://launch.example';
const jwk = ed25519KeyOf(randomBytes(32));
const publicJwk: JsonWebKey = { kty: 'OKP', crv: 'Ed25519', ...(jwk.x !== undefined && { x: jwk.x }) };
const signingOf = (key: JsonWebKey) => {
  const { signing } = parseEd25519Keys(JSON.stringify(key));
  if (signing === undefined) throw new Error('The key is public');
  return signing;
};
const own = signingOf(jwk);

const requirement = { guide: 'pms.md', title: 'The client does it' };
const met: ReportedRequirement = { ...requirement, id: 'pms.one', result: 'passed' };
const attested: ReportedRequirement = {
  ...requirement,
  id: 'pms.two',
  result: 'attested',
  finding: 'Attested by Ada \u001b[2JOkonkwo',
};
const reportOf = (...requirements: ReportedRequirement[]): RunReport => ({
  run: crypto.randomUUID(),
  client: 'my-pms',
  protocol: 'pms',
  isSigned: false,
  startedAt: '2026-11-26T09:00:00.000Z',
  finishedAt: '2026-11-26T09:05:00.000Z',
  state: 'finished',
  launches: [crypto.randomUUID()],
  requirements,
  notJudged: ['pms.result-read'],
});
const conformant = reportOf(met, attested);
const sign = (report: RunReport, key = own) =>
  signStatement(report, { key, issuer: platform, issuedAt: 0, platformVersion: '1.0.0' });

const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-statement-'));
const [file, keys] = [join(directory, 'statement.jwt'), join(directory, 'keys.json')];
beforeAll(() => writeFileSync(keys, JSON.stringify({ keys: [publicJwk] })));
afterAll(() => rmSync(directory, { recursive: true }));

/** Verifies a text as a file, by default with the public key in `--keys`. */
function verify(
  text: string,
  options: readonly string[] = ['--keys', keys],
  { issuer = platform, ...environment }: Readonly<Record<string, string>> = {},
) {
  writeFileSync(file, text);
  const given = issuer === '' ? options : [...options, '--issuer', issuer];
  return runOpsHere(['conformance', 'verify', file, ...given], environment);
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const payloadOf = (statement: string): object =>
  JSON.parse(Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString());

describe('./clinical-launch conformance verify', () => {
  it('prints each requirement of a valid statement, and exits with 0', async () => {
    const { code, output, errors } = await verify(`${await sign(conformant)}\n`);
    expect([code, errors]).toEqual([0, '']);
    expect(output.split('\n')).toEqual([
      'The signature is valid. https://launch.example signed the statement at 1970-01-01T00:00:00.000Z',
      'Product my-pms (pms), platform 1.0.0, rules 2',
      `Run ${conformant.run} from 2026-11-26T09:00:00.000Z to 2026-11-26T09:05:00.000Z, launches: 1`,
      'met          pms.one: The client does it',
      'attested     pms.two: The client does it (Attested by Ada  [2JOkonkwo)',
      'not judged   pms.result-read: the product has no address for messages',
      'conformant without: pms.result-read',
      '',
    ]);
  });

  it('accepts the private or the public key in STATEMENT_SIGNING_KEY', async () => {
    const statement = await sign(conformant);
    for (const key of [jwk, publicJwk])
      expect(await verify(statement, [], { STATEMENT_SIGNING_KEY: JSON.stringify(key) })).toMatchObject({
        code: 0,
      });
    expect(await verify(statement, [])).toMatchObject({
      code: 2,
      errors: 'STATEMENT_SIGNING_KEY is not set\n',
    });
    expect(await verify(statement, ['--keys', file])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('must be an Ed25519 key as a JWK'),
    });
  });

  it.each(['failed', 'unseen', 'unattested'] as const)(
    'exits with 1 if a requirement is %s',
    async (result) => {
      const statement = await sign(reportOf(met, { ...attested, result }));
      expect(await verify(statement)).toMatchObject({
        code: 1,
        output: expect.stringContaining('The signature is valid'),
        errors: 'The product does not meet every requirement\n',
      });
    },
  );

  it('exits with 2 without --issuer', async () => {
    const { code, errors } = await verify(await sign(conformant), ['--keys', keys], { issuer: '' });
    expect([code, errors]).toEqual([2, expect.stringContaining('--issuer')]);
  });

  it('exits with 1 if --issuer is not the platform that issued the statement', async () => {
    const statement = await sign(conformant);
    const of = (issuer: string) => verify(statement, ['--keys', keys], { issuer });
    expect(await of(platform)).toMatchObject({ code: 0 });
    expect(await of('https://other.example')).toMatchObject({
      code: 1,
      errors: 'Another platform issued the statement\n',
    });
  });

  const header = { alg: 'EdDSA', typ: 'conformance-statement+jwt', kid: own.kid };
  it.each<[what: string, reason: string, forge: (statement: string) => string | Promise<string>]>([
    ['a JSON report', 'is not a signed statement', () => JSON.stringify(conformant, undefined, 2)],
    ['a JUnit report', 'is not a signed statement', () => junitOf(conformant)],
    [
      'a statement without its signature',
      'signature is invalid',
      (one) => one.slice(0, one.lastIndexOf('.') + 1),
    ],
    [
      'a statement with the algorithm none',
      'is not signed with EdDSA',
      (one) => `${encoded({ ...header, alg: 'none' })}.${one.split('.')[1]}.`,
    ],
    [
      'an HMAC with the public key',
      'is not signed with EdDSA',
      (one) => {
        const signed = `${encoded({ ...header, alg: 'HS256' })}.${one.split('.')[1]}`;
        const secret = Buffer.from(jwk.x ?? '', 'base64url');
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
    ],
    [
      'a statement of another key',
      'None of the given keys',
      () => sign(conformant, signingOf(ed25519KeyOf(randomBytes(32)))),
    ],
    [
      'a statement of another key with the key id of the platform',
      'signature is invalid',
      () => sign(conformant, { ...signingOf(ed25519KeyOf(randomBytes(32))), kid: own.kid }),
    ],
    [
      'a changed statement',
      'signature is invalid',
      (one) => one.replace(/\..*\./, `.${encoded({ ...payloadOf(one), client: 'other' })}.`),
    ],
    [
      'a token with another typ',
      'is not a conformance statement',
      (one) => new SignJWT({ ...payloadOf(one) }).setProtectedHeader({ ...header, typ: 'JWT' }).sign(own.key),
    ],
    [
      'a token with other content',
      'is not a conformance statement',
      () => new SignJWT({ iss: platform, isConformant: true }).setProtectedHeader(header).sign(own.key),
    ],
  ])('refuses %s, and exits with 1', async (_what, reason, forge) => {
    const { code, output, errors } = await verify(await forge(await sign(conformant)));
    expect([code, output, errors]).toEqual([1, '', expect.stringContaining(reason)]);
  });
});
