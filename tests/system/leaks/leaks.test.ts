import { beforeAll, describe, expect, it } from '@jest/globals';
import { aHiddenOrder, aHiddenPatient, valuesOf } from './hidden-people.ts';
import { type Observed, observe } from './observed-texts.ts';
import { playEverything } from './play-everything.ts';
import { findLeaks, type Hidden, type Place } from './search.ts';

const patient = aHiddenPatient();
const order = aHiddenOrder(patient);
const { author } = order;

let observed: Observed;
let hidden: Hidden;
beforeAll(async () => {
  observed = await observe((baseUrl) => playEverything(baseUrl, patient, order));
  hidden = {
    patients: valuesOf(patient),
    users: [author.username, author.name.family, ...author.name.given],
    secrets: [...observed.secrets, 'pms-demo-secret', 'host-demo-secret', 'audit-demo-secret'],
  };
});

const textIn = (place: Place) =>
  observed.texts
    .filter(([each]) => each === place)
    .map(([, text]) => text)
    .join('\n');

describe('a run of both launches, the eight actions and every refusal', () => {
  it('leaks no patient, user, token, verifier, cookie or secret', () => {
    expect(findLeaks(observed.texts, hidden)).toEqual([]);
  });

  it.each<[Place, RegExp]>([
    ['a log', /"correlationId":"[0-9a-f-]{36}"/],
    ['a span', /POST \/AccessApi\/RequestLaunchUrl/],
    ['a metric', /http_server_request_duration/],
    ['a URL', /\/secureLaunch/],
    ['a command to Redis', /"evalsha"/i],
    ['a value in Redis', /ticket:/],
    ['an event', /launch\.url\.issued\.v1/],
    ['an audit row', /launch\.token\.refused\.v1/],
  ])('was recorded in %s', (place, expected) => {
    expect(textIn(place)).toMatch(expected);
  });

  it('used more than sixty tokens, verifiers, codes, identifiers and cookies', () => {
    expect(observed.secrets.size).toBeGreaterThan(60);
  });
});

describe('the search for leaks', () => {
  const places = [
    'a log',
    'a span',
    'a metric',
    'a URL',
    'a command to Redis',
    'a value in Redis',
    'an event',
    'an audit row',
    'an outbox row',
  ] as const;

  it.each(places)('finds each value of a patient, and each secret, in %s', (place) => {
    const planted = [...valuesOf(patient), ...[...observed.secrets].slice(0, 5)];
    for (const value of planted) {
      for (const written of [
        value,
        value.toUpperCase(),
        `\\n${value}`,
        `%20${value.replaceAll(' ', '%20')}`,
      ]) {
        const texts = [[place, `${textIn(place).slice(-10_000)} {"a":"${written}"}`]] as const;
        expect([value, findLeaks(texts, hidden).length > 0]).toEqual([value, true]);
      }
    }
  });

  it('finds a user in a log, a span and a metric, but allows users in events', () => {
    const found = places.filter((place) => findLeaks([[place, `by ${author.username}.`]], hidden).length > 0);
    expect(found).toEqual(['a log', 'a span', 'a metric']);
  });

  it('ignores a value within a longer number or word', () => {
    const [word = ''] = valuesOf(patient);
    for (const text of [`1${patient.birthDate.replaceAll('-', '')}456789`, `${word}s`, `x${word}`]) {
      expect(findLeaks([['a log', text]], hidden)).toEqual([]);
    }
  });
});
