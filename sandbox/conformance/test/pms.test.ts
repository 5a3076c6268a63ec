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
    ['passed', 10_000],
    ['failed', 10_001],
  ])('are judged %s if a launch URL is opened after %d ms', (verdict, at) => {
    expect(judge('pms.opened-in-time', [issued(), opened({ at })])).toBe(verdict);
  });

  it.each([
    ['passed', 5000],
    ['failed', 5001],
  ])('are judged %s if a callback is answered after %d ms', (verdict, tookMs) => {
    const sent = anExchange({ path: '/callbacks', direction: 'sent', tookMs });
    expect(judge('pms.callback-in-time', [sent])).toBe(verdict);
  });

  it.each([
    ['failed', 1899, '429', 'pms.limited-429'],
    ['passed', 1900, '429', 'pms.limited-429'],
    ['failed', 1899, '503', 'pms.unavailable-503'],
    ['passed', 1900, '503', 'pms.unavailable-503'],
  ] as const)(
    'are judged %s if the next request follows %d ms after a %s answer (%s)',
    (verdict, at, fault, id) => {
      expect(judge(id, [issued({ fault }), issued({ at })])).toBe(verdict);
    },
  );

  it.each([
    ['failed', 3299],
    ['passed', 3300],
  ])('are judged %s if a token is renewed after %d of its 3600 seconds', (verdict, seconds) => {
    const exchanges = [tokenAt(0), issued(), issued(), tokenAt(seconds * 1000)];
    expect(judge('pms.token-reused', exchanges)).toBe(verdict);
  });

  it.each([
    ['failed', 'before', ['UpdateTest', 'OrderTest']],
    ['passed', 'after', ['OrderTest', 'UpdateTest']],
  ] as const)('are judged %s if an UpdateTest is sent %s its OrderTest', (verdict, _when, actions) => {
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
  ])('are failed by an address with %s', (_what, { path, referer }: { path?: string; referer?: string }) => {
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
  ])('can be judged for the invalid payload %.60s without an exception', (body) => {
    const exchanges = [issued({ body }), issued({ body, fault: '403' }), opened()];
    for (const { judge: judgeIt } of pmsProtocol.requirements)
      expect(() => judgeIt?.(exchanges)).not.toThrow();
  });
});
