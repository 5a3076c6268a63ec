import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../libs/events/test/events.ts';
import { openPlace, type Place } from '../../../libs/events/test/rabbitmq-place.ts';
import { runOps, runOpsHere } from './run-ops.ts';

let place: Place;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place.close());

const consumer = 'audit';

/** Starts a consumer that fails until `isCured` is set. */
async function startAudit(name = consumer) {
  const bus = await place.connect();
  const health = { isCured: false };
  const dealtWith: CloudEvent[] = [];
  const handle = async (event: CloudEvent) => {
    if (!health.isCured) throw new RangeError('the table is full');
    dealtWith.push(event);
  };
  await bus.consume({ name, handle });
  const buried = async (count: number) =>
    until(async () => (await place.depthOf(place.topology.deadLetterQueueOf(name))) === count);
  return { bus, health, dealtWith, buried };
}

/** Runs the command with the settings of the test's broker. */
async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  run = runOpsHere,
) {
  const { url, namespace } = place.broker;
  const settings = { AMQP_URL: url, AMQP_NAMESPACE: namespace, ...environment };
  const { code, output, errors } = await run(['dead-letters', ...args], settings);
  return { code, out: output, complaint: errors };
}

describe('the dead-letters command', () => {
  it('lists dead letters, one per line without data, and replays the named dead letters', async () => {
    const { bus, health, dealtWith, buried } = await startAudit();
    const [first, second] = [anEvent('launch.token.refused.v1'), anEvent('launch.token.refused.v1')];
    await bus.publish([first]);
    await buried(1);
    await bus.publish([second]);
    await buried(2);
    const listed = await runCommand(['list', consumer], {}, runOps);
    expect([listed.code, listed.complaint]).toEqual([0, '']);
    const lines = listed.out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { id: first.id, type: first.type, reason: 'RangeError: the table is full', attempts: 3 },
      { id: second.id, type: second.type, correlationid: second.correlationid },
    ]);
    expect(listed.out).not.toContain('token_unknown');
    const asJson = await runCommand(['list', consumer, '--json']);
    expect(JSON.parse(asJson.out)).toEqual(lines.map((line) => JSON.parse(line)));

    health.isCured = true;
    expect(await runCommand(['replay', consumer, second.id])).toEqual({
      code: 0,
      out: `${second.id}\n`,
      complaint: '',
    });
    await until(() => dealtWith.length === 1);
    expect(await runCommand(['replay', consumer])).toEqual({ code: 0, out: `${first.id}\n`, complaint: '' });
    await until(() => dealtWith.length === 2);
    expect(dealtWith).toEqual([second, first]);
  });

  it('lists the dead letters of every consumer without the name of a consumer, and counts them', async () => {
    const { bus, buried } = await startAudit('order-renderer');
    const event = anEvent();
    await bus.publish([event]);
    await buried(1);
    const { code, out, complaint } = await runCommand(['list']);
    expect([code, JSON.parse(out)]).toMatchObject([0, { consumer: 'order-renderer', id: event.id }]);
    expect(complaint.trim().split('\n').toSorted()).toEqual([
      'audit-trail: 0 dead letters',
      'desktop-logout: 0 dead letters',
      'order-renderer: 1 dead letters',
      'originating-ids: 0 dead letters',
    ]);
  });

  it('exits with 1 and reports the cause if it fails', async () => {
    await startAudit();
    const missing = anEvent().id;
    expect(await runCommand(['replay', consumer, missing])).toEqual({
      code: 1,
      out: '',
      complaint: `There is no dead letter ${missing}\n`,
    });
    expect(await runCommand(['list', 'nobody'])).toEqual({
      code: 1,
      out: '',
      complaint: 'The consumer nobody has no dead-letter queue\n',
    });
    const nowhere = { AMQP_URL: 'amqp://guest:secret@127.0.0.1:1' };
    const unreachable = await runCommand(['list', consumer], nowhere, runOps);
    expect(unreachable.code).toBe(1);
    expect(unreachable.complaint).toContain('ECONNREFUSED');
    expect(unreachable.complaint).not.toContain('secret');
  });

  it('exits with 2 and prints the fault of wrong arguments', async () => {
    for (const [args, fault] of [
      [[], 'Usage: clinical-launch dead-letters'],
      [['replay'], "missing required argument 'consumer'"],
      [['list', consumer, 'more'], 'too many arguments'],
      [['forget', consumer], "unknown command 'forget'"],
    ] as const) {
      const { code, out, complaint } = await runCommand(args);
      expect([code, out]).toEqual([2, '']);
      expect(complaint).toContain(fault);
    }
    expect(await runCommand(['list', consumer], { AMQP_URL: '' })).toEqual({
      code: 2,
      out: '',
      complaint: expect.stringMatching(/^AMQP_URL is not set\. .*AMQP_URL=\.\.\. npm start\n$/),
    });
    expect((await runCommand(['--help'])).code).toBe(0);
  });
});
