import { Type } from '@clinical-launch/contracts/type';
import { describe, expect, it } from '@jest/globals';
import {
  assertPublicAddresses,
  ConfigurationError,
  isProduction,
  readEnvironment,
  readTogether,
} from '../src/environment.ts';

const schema = Type.Object({
  PUBLIC_URL: Type.String({ pattern: '^https?://[^/]+$', description: 'must be an origin' }),
  SECRET: Type.String({ minLength: 32 }),
  PORT: Type.Integer({ minimum: 1, maximum: 65_535, default: 8080 }),
  VERBOSE: Type.Optional(Type.Boolean()),
  MODE: Type.Optional(Type.Enum(['demo', 'production'])),
});
const secret = 's'.repeat(32);
const good = { PUBLIC_URL: 'https://launch.example', SECRET: secret };

/** Returns the problems of an invalid environment. */
function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('an environment', () => {
  it('is converted to the types of its schema, with defaults', () => {
    expect(readEnvironment(schema, good)).toEqual({ ...good, PORT: 8080 });
    expect(readEnvironment(schema, { ...good, PORT: '81', VERBOSE: 'true', MODE: 'demo' })).toEqual({
      ...good,
      PORT: 81,
      VERBOSE: true,
      MODE: 'demo',
    });
  });

  it('may contain other variables, which are ignored', () => {
    expect(readEnvironment(schema, { ...good, HOME: '/root' })).not.toHaveProperty('HOME');
  });

  it('treats empty variables as unset', () => {
    expect(readEnvironment(schema, { ...good, PORT: '', VERBOSE: '' })).toEqual({ ...good, PORT: 8080 });
    expect(problemsOf(() => readEnvironment(schema, { ...good, SECRET: '' }))).toEqual([
      'SECRET is required',
    ]);
  });

  it('is frozen after it is read', () => {
    expect(Object.isFrozen(readEnvironment(schema, good))).toBe(true);
  });

  it('is refused with an error that lists every problem at once, without values', () => {
    const wrong = {
      PUBLIC_URL: 'launch.example/path',
      SECRET: 'hunter2',
      PORT: '70000',
      VERBOSE: 'perhaps',
      MODE: 'rehearsal',
    };
    const problems = problemsOf(() => readEnvironment(schema, wrong));
    expect(problems).toEqual([
      'PUBLIC_URL must be an origin',
      expect.stringMatching(/^SECRET /),
      'PORT must be <= 65535',
      'VERBOSE must be of type boolean',
      'MODE must be one of demo, production',
    ]);
    for (const value of Object.values(wrong)) expect(problems.join('\n')).not.toContain(value);
  });

  it('is refused with a message that lists its problems', () => {
    expect(() => readEnvironment(schema, {})).toThrow(
      'The configuration is invalid:\n  PUBLIC_URL is required\n  SECRET is required',
    );
  });
});

describe('several readers of one environment', () => {
  const other = Type.Object({ PUBLIC_URL: Type.String(), LIMIT: Type.Integer() });

  it('return all results', () => {
    const read = readTogether({
      one: () => readEnvironment(schema, good),
      two: () => readEnvironment(other, { ...good, LIMIT: '5' }),
    });
    expect([read.one.PORT, read.two.LIMIT]).toEqual([8080, 5]);
  });

  it('report all problems together, each once', () => {
    const problems = problemsOf(() =>
      readTogether({
        one: () => readEnvironment(schema, { SECRET: secret }),
        two: () => readEnvironment(other, {}),
      }),
    );
    expect(problems).toEqual(['PUBLIC_URL is required', 'LIMIT is required']);
  });

  it('rethrow errors that are not about the configuration', () => {
    const broken = () => {
      throw new RangeError('a defect');
    };
    expect(() => readTogether({ broken })).toThrow(RangeError);
  });
});

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
