import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { describe, expect, it } from '@jest/globals';

const secretFields = [
  'authorization',
  'cookie',
  'client_secret',
  'code_verifier',
  'codeVerifier',
  'launchToken',
  'ticket',
  'access_token',
  'patient',
  'payload',
  'body',
  'context',
];

describe('the log', () => {
  it('consists of JSON lines with ISO 8601 times', () => {
    const { logger, lines } = createRecordedLogger();
    logger.info({ status: 200 }, 'request answered');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      status: 200,
      msg: 'request answered',
    });
  });

  it.each(secretFields)('never contains %s, at any depth of a log call', (field) => {
    const { logger, lines } = createRecordedLogger();
    const value = 'Whitfield';
    logger.info({ [field]: value, status: 200 }, 'on top');
    logger.info({ [field]: { name: [{ family: value }] } }, 'as an object');
    logger.info({ request: { [field]: value } }, 'within');
    logger.error({ request: { headers: { [field]: value } } }, 'two levels down');
    logger.child({ [field]: value }).warn('of a child');
    logger.error({ err: Object.assign(new Error('failed'), { [field]: value }) }, 'on an error');
    logger.error({ a: { b: { c: { d: [{ [field]: value }] } } } }, 'deep down');
    expect(lines).toHaveLength(7);
    for (const line of lines) expect(line).not.toContain(value);
    for (const line of lines) expect(line).toContain('[redacted]');
    expect(lines[0]).toContain('"status":200');
  });

  it('accepts circular objects and repeated references', () => {
    const { logger, lines } = createRecordedLogger();
    const fault = { path: 'a', patient: 'Whitfield' };
    const circular: Record<string, unknown> = { faults: [fault, fault] };
    circular['self'] = circular;
    logger.info({ circular, at: new Date(0) });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      circular: {
        faults: [
          { path: 'a', patient: '[redacted]' },
          { path: 'a', patient: '[redacted]' },
        ],
      },
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('contains the type, code and causes of an error, but not the input that caused it', () => {
    const { logger, lines } = createRecordedLogger();
    const input = 'Margaret Whitfield\n    at Whitfield (/whitfield.ts:1:1)';
    const thrownBy = (run: () => unknown): unknown => {
      try {
        return run();
      } catch (error) {
        return error;
      }
    };
    const notJson = thrownBy(() => JSON.parse(input));
    const noUrl = thrownBy(() => new URL(`http://a:99999/?launchToken=${input}`));
    const headers = thrownBy(() => new Headers({ Name: input.replace('M', '\0') }));
    const notDecoded = Object.assign(new URIError(`Failed to decode param '${input}'`), { status: 400 });
    const reply = Object.assign(new Error(`ERR unknown command 'X', with args beginning with: '${input}'`), {
      command: { name: 'set', args: [input] },
      routine: input,
      severity: 'ERROR',
      retryAfterSeconds: 2,
    });
    const causes = new Error('The keys could not be fetched', {
      cause: new AggregateError([notJson, noUrl]),
    });
    const errors = [notJson, noUrl, headers, notDecoded, reply, causes, input, { input }, [input]];
    for (const err of errors) {
      logger.error({ err }, 'failed');
      logger.child({ err }).warn('of a child');
      logger.error({ failure: { reason: err instanceof Error ? err : undefined } }, 'under another name');
    }
    logger.error(notJson);
    for (const line of lines) expect(line).not.toMatch(/whitfield/i);
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ command: '[redacted]', severity: 'ERROR', retryAfterSeconds: 2 }),
      }),
    );
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ type: 'TypeError', code: 'ERR_INVALID_URL' }),
      }),
    );
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({
          message: 'The keys could not be fetched',
          stack: expect.stringContaining('logger.test.ts'),
          cause: expect.objectContaining({
            errors: [
              expect.objectContaining({ type: 'SyntaxError', message: '[redacted]' }),
              expect.objectContaining({ type: 'TypeError' }),
            ],
          }),
        }),
      }),
    );
  });

  it('contains values without secrets unchanged', () => {
    const { logger, lines } = createRecordedLogger();
    const said = { path: '/secureLaunch', faults: [{ path: 'contained[0].name', message: 'is required' }] };
    logger.warn(said, 'refused');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject(said);
  });
});
