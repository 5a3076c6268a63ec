import {
  mutatedServiceRequest,
  validServiceRequest,
} from '@clinical-launch/testing/arbitrary-service-request';
import { runsOf } from '@clinical-launch/testing/runs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maxPayloadBytes } from '../src/http/check-launch.ts';
import { faultsOf, startLaunchApi } from './launch-api.ts';

const payloads = runsOf(5000);
const simultaneous = 50;

let api: Awaited<ReturnType<typeof startLaunchApi>>;
let token: string;
beforeAll(async () => {
  api = await startLaunchApi();
  token = await api.issuer.sign();
});
afterAll(() => api.stop());

/**
 * Posts generated payloads in batches. The error of a failed run contains the seed, so that the run can be
 * repeated.
 */
async function postAll(
  arbitrary: fc.Arbitrary<unknown>,
  judge: (response: Response, payload: unknown) => Promise<void>,
) {
  const seed = Date.now();
  const generated = fc.sample(arbitrary, { numRuns: payloads, seed });
  for (let from = 0; from < generated.length; from += simultaneous) {
    const batch = generated.slice(from, from + simultaneous);
    await Promise.all(
      batch.map(async (payload) => {
        const response = await api.post({ payload, token });
        await judge(response, payload).catch((cause: unknown) => {
          throw new Error(`seed ${seed}: ${response.status} to ${JSON.stringify(payload)}`, { cause });
        });
      }),
    );
  }
}

/** Two mutations together may exceed the limit of a body, which is answered before the body is read (413). */
const fits = (payload: unknown) => Buffer.byteLength(JSON.stringify(payload)) <= maxPayloadBytes;

describe('generated payloads', () => {
  it('are accepted if they are valid', async () => {
    await postAll(validServiceRequest(), async (response) => {
      // Two generated payloads may have the same originating id.
      expect([200, 409]).toContain(response.status);
      await response.text();
    });
  });

  it('never cause a server error if they are mutated, but are accepted or refused with a list of errors', async () => {
    const refused = { count: 0 };
    await postAll(mutatedServiceRequest().filter(fits), async (response) => {
      expect([200, 400, 409]).toContain(response.status);
      if (response.status !== 400) return void (await response.text());
      refused.count += 1;
      expect((await faultsOf(response)).length).toBeGreaterThan(0);
    });
    expect(refused.count).toBeGreaterThan(payloads / 10);
  });
});
