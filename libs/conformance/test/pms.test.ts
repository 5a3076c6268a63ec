import { readFileSync } from 'node:fs';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import type { Exchange } from '../src/exchange.ts';
import { pmsProtocol } from '../src/pms.ts';
import { anExchange, issued, opened, origin } from './recorded-exchange.ts';

const tokenAt = (at: number) =>
  anExchange({
    path: '/idp/demo/oauth2/v2.0/token',
    at,
    body: 'client_id=pms&client_secret=the-secret',
    answer: { access_token: 'the-access-token', expires_in: 3600 },
  });

/** Returns the result of a requirement for recorded exchanges. */
const judge = (id: string, exchanges: readonly Exchange[]) =>
  pmsProtocol.requirements.find((one) => one.id === id)?.judge?.(exchanges).verdict;

describe('the requirements of a practice management system', () => {
  it.each(pmsProtocol.requirements)('$id refers to a section of a guide', ({ guide }) => {
    const [file = '', section] = guide.split('#');
    const text = readFileSync(new URL(`../../../docs/guides/${file}`, import.meta.url), 'utf8');
    const sections = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(sections).toContain(section);
  });

  it.each([
    [10_000, 'passed'],
    [10_001, 'failed'],
  ])('judge a launch URL that is opened after %d ms as %s', (at, verdict) => {
    expect(judge('pms.opened-in-time', [issued(), opened({ at })])).toBe(verdict);
  });

  it.each([
    [5000, 'passed'],
    [5001, 'failed'],
  ])('judge a callback that is answered after %d ms as %s', (tookMs, verdict) => {
    const sent = anExchange({ path: '/callbacks', direction: 'sent', tookMs });
    expect(judge('pms.callback-in-time', [sent])).toBe(verdict);
  });

  it.each([
    ['429', 'pms.limited-429', 1899, 'failed'],
    ['429', 'pms.limited-429', 1900, 'passed'],
    ['503', 'pms.unavailable-503', 1899, 'failed'],
    ['503', 'pms.unavailable-503', 1900, 'passed'],
  ] as const)(
    'after a %s answer, judge by %s the next request after %d ms as %s',
    (fault, id, at, verdict) => {
      expect(judge(id, [issued({ fault }), issued({ at })])).toBe(verdict);
    },
  );

  it.each([
    [3299, 'failed'],
    [3300, 'passed'],
  ])('judge a token that is renewed after %d of its 3600 seconds as %s', (seconds, verdict) => {
    const exchanges = [tokenAt(0), issued(), issued(), tokenAt(seconds * 1000)];
    expect(judge('pms.token-reused', exchanges)).toBe(verdict);
  });

  it.each([
    ['before', 'failed', ['UpdateTest', 'OrderTest']],
    ['after', 'passed', ['OrderTest', 'UpdateTest']],
  ] as const)('judge an UpdateTest %s the OrderTest of its identifier as %s', (_when, verdict, actions) => {
    const bodyOf = (action: (typeof actions)[number]) => aServiceRequest({ action, originatingId: 'one' });
    const exchanges = actions.map((action) => issued({ body: JSON.stringify(bodyOf(action)) }));
    expect(judge('pms.identifier-kept', exchanges)).toBe(verdict);
  });

  it.each([
    [
      'the number of the patient in a path of the PMS',
      { referer: 'https://pms.example/patients/9434765919' },
    ],
    ['the name of the patient in a query of the PMS', { referer: 'https://pms.example/?q=WHITFIELD%2C+M' }],
    ['the date of birth', { path: '/secureLaunch?launchToken=T&codeVerifier=V&born=1958-02-28' }],
    ['a launch token in the Referer', { referer: `${origin}/secureLaunch?launchToken=T` }],
    ['the name of a secret', { path: '/secureLaunch?launchToken=T&code_verifier=V' }],
    ['the access token by another name', { path: '/secureLaunch?launchToken=T&t=the-access-token' }],
    ['the client secret by another name', { referer: 'https://pms.example/?s=the-secret' }],
  ])('fail an address with %s', (_what, { path, referer }: { path?: string; referer?: string }) => {
    const opening = opened({ ...(path && { path }), ...(referer && { headers: { referer } }) });
    expect(judge('pms.private-addresses', [tokenAt(0), issued(), opening])).toBe('failed');
  });

  it('are met even if the path of the platform’s address contains the name of the patient', () => {
    const patient = { name: [{ use: 'usual', family: 'Demo', given: ['Usual'] }] };
    const body = JSON.stringify(aServiceRequest({ patient }));
    const opening = opened({ headers: { referer: `${origin}/demo/pms?use=old` } });
    expect(judge('pms.private-addresses', [issued({ body }), opening])).toBe('passed');
  });

  it.each([
    ['null'],
    ['[]'],
    ['{"identifier":[null],"extension":[null],"contained":[null]}'],
    [
      '{"identifier":{},"extension":"","contained":[{"resourceType":"Patient","name":[null],"identifier":1}]}',
    ],
    [`{"contained":[{"resourceType":"Patient","birthDate":${'['.repeat(9000)}${']'.repeat(9000)}}]}`],
    [`{"extension":[{"url":"${defaultNamespaces.fhir}/extension/action","valueString":{}}]}`],
  ])('judge the payload %.60s without an error', (body) => {
    const exchanges = [issued({ body }), issued({ body, fault: '403' }), opened()];
    for (const { judge: judgeIt } of pmsProtocol.requirements)
      expect(() => judgeIt?.(exchanges)).not.toThrow();
  });
});
