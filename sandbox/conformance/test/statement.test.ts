import { randomBytes } from 'node:crypto';
import { ed25519KeyOf, parseEd25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { expect, it } from '@jest/globals';
import { createKeySubstitutes } from '../src/id-tokens.ts';
import { pmsProtocol } from '../src/pms.ts';
import { Run } from '../src/run.ts';
import { signStatement, verifyStatement } from '../src/statement.ts';
import { issued } from './recorded-exchange.ts';

const keys = parseEd25519Keys(JSON.stringify(ed25519KeyOf(randomBytes(32))));
const clientId = 'pms';
const clock = new TestClock();

it('only a finished run has a statement, which contains its requirements but no launch ids', async () => {
  const { signing: key } = keys;
  if (key === undefined) throw new Error('The key is public');
  const run = new Run({
    clientId,
    protocol: pmsProtocol,
    attestations: { 'pms.secrets-stored': 'Ada Okonkwo' },
    clock,
    tools: { createLaunch: async () => '', endLaunch: async () => undefined, keys: createKeySubstitutes() },
  });
  const launchId = crypto.randomUUID();
  run.record({ ...issued({ headers: { 'code-challenge': 'short' } }), clientId, launchId });
  const options = { key, issuer: 'https://launch.example', issuedAt: 5000, platformVersion: '1.0.0' };
  await expect(signStatement(run.report(), options)).rejects.toThrow('Only a finished run can be signed');

  clock.advance({ seconds: 60 });
  run.finish();
  clock.advance({ seconds: 60 });
  run.finish();
  const { startedAt } = run.report();
  const statement = await verifyStatement(await signStatement(run.report(), options), {
    keys,
    issuer: options.issuer,
  });
  const { requirements, ...others } = statement;
  expect(others).toEqual({
    iss: 'https://launch.example',
    iat: 5,
    client: clientId,
    protocol: 'pms',
    platformVersion: '1.0.0',
    rulesVersion: 2,
    run: run.id,
    startedAt,
    finishedAt: new Date(Date.parse(startedAt) + 60_000).toISOString(),
    launches: 1,
    notJudged: run.report().notJudged,
    isConformant: false,
  });
  const found = new Map(requirements.map((one) => [one.id, [one.conformance, one.evidence]]));
  expect([found.get('pms.challenge-form'), found.get('pms.refused-401')]).toEqual([
    ['not met', 'Code-Challenge is missing or has another form'],
    ['not seen', undefined],
  ]);
  expect([found.get('pms.secrets-stored'), found.get('pms.reference-shown')]).toEqual([
    ['attested', 'Attested by Ada Okonkwo'],
    ['not attested', undefined],
  ]);
  expect(JSON.stringify(statement)).not.toContain(launchId);
});
