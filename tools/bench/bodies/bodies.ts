import { startPlatform } from '@clinical-launch/platform/platform';
import { systemClock } from '@clinical-launch/runtime/clock';
import { createLogger } from '@clinical-launch/runtime/logger';
import type { Json } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { worstForms, worstJsonBodies } from '@clinical-launch/testing/worst-bodies';
import fc from 'fast-check';
import type { Bench } from '../bench.ts';

/** The maximum time that one request may block the event loop, in milliseconds. */
const goal = { atMost: 50 };
const formFields = [
  'grant_type',
  'client_id',
  'client_secret',
  'scope',
  'token',
  'code',
  'launch',
  'codeVerifier',
];
const formBytes = 8 * 1024;
const payloadBytes = 250 * 1024;

/**
 * Measures the maximum CPU time of this thread for one generated body. Client and server share the thread, so
 * the CPU time is at least the time that the event loop is blocked.
 */
export const bodies: Bench = {
  name: 'bodies',
  async run({ short, progress }) {
    const platform = await startPlatform({
      environment: { PORT: '0', HOST: '127.0.0.1' },
      clock: systemClock,
      logger: createLogger({ level: 'silent' }),
    });
    const form = 'application/x-www-form-urlencoded';
    const post = async (path: string, body: string, type = form, authorization = '') => {
      const headers = { 'content-type': type, ...(authorization === '' ? {} : { authorization }) };
      const response = await fetch(`${platform.publicUrl}${path}`, { method: 'POST', body, headers });
      return response.text();
    };
    const credentials =
      'grant_type=client_credentials&client_id=pms-demo&client_secret=pms-demo-secret&scope=api://clinical-launch/.default';
    const { access_token } = JSON.parse(await post('/idp/demo/oauth2/v2.0/token', credentials));
    const launch = (body: string) =>
      post('/AccessApi/RequestLaunchUrl', body, 'application/json', `Bearer ${access_token}`);
    const numRuns = short ? 10 : 200;
    const forms = fc.sample(worstForms(formFields, formBytes), { numRuns });
    const valid: Json = JSON.parse(JSON.stringify(aServiceRequest()));
    const payloads = fc.sample(worstJsonBodies(valid, payloadBytes), { numRuns });
    const contenders: [string, readonly string[], (body: string) => Promise<unknown>][] = [
      ['token', forms, (body) => post('/idp/demo/oauth2/v2.0/token', body)],
      ['authorize', forms, (body) => post('/idp/demo/desktop/oauth2/v2.0/authorize', body)],
      ['secureLaunch', forms, (body) => post('/secureLaunch', body)],
      ['RequestLaunchUrl', payloads, launch],
    ];
    try {
      const figures = [];
      for (const [name, sample, send] of contenders) {
        progress(name);
        for (const body of sample) await send(body);
        const values: number[] = [];
        for (let round = 0; round < (short ? 1 : 5); round += 1) values.push(await mostOf(sample, send));
        figures.push({ name: `worst body of ${name}`, unit: 'ms' as const, values, goal });
      }
      return figures;
    } finally {
      await platform.stop();
    }
  },
};

async function mostOf(sample: readonly string[], send: (body: string) => Promise<unknown>): Promise<number> {
  let most = 0;
  for (const body of sample) {
    const before = process.threadCpuUsage();
    await send(body);
    const { user, system } = process.threadCpuUsage(before);
    most = Math.max(most, (user + system) / 1000);
  }
  return most;
}
