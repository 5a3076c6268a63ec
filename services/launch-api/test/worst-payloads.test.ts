import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { worstJsonBodies } from '@clinical-launch/testing/worst-bodies';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startLaunchApi } from './launch-api.ts';

/** The size limit of a payload. */
const limitBytes = 256 * 1024;

let api: Awaited<ReturnType<typeof startLaunchApi>>;
let token: string;
beforeAll(async () => {
  api = await startLaunchApi();
  token = await api.issuer.sign();
  await expectAnswer('{}');
});
afterAll(() => api.stop());

async function expectAnswer(body: string): Promise<void> {
  const response = await api.post({ body, token });
  await response.text();
  expect([200, 400, 409]).toContain(response.status);
}

describe('a payload within the size limit', () => {
  it('never causes a server error, even with long repetitions', async () => {
    const long = `"\\u0061${'a'.repeat(120_000)}"`;
    const zeros = Array.from({ length: 20_000 }, () => 0);
    const name = [{ use: 'usual', family: zeros, given: zeros }];
    const manyEntries = {
      ...aServiceRequest(),
      identifier: zeros,
      extension: zeros,
      contained: [{ resourceType: 'Patient', name, identifier: zeros, address: zeros }],
    };
    const bodies = [
      `[${long}${':'.repeat(120_000)}]`,
      `{${long}${'{:}'.repeat(40_000)}}`,
      `{${long}${':,'.repeat(60_000)}}`,
      JSON.stringify(manyEntries),
    ];
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limitBytes);
    for (const body of bodies) await expectAnswer(body);
  });

  it('never causes a server error if it is generated at random', async () => {
    await fc.assert(fc.asyncProperty(worstJsonBodies(aServiceRequest(), limitBytes), expectAnswer), {
      numRuns: 200,
      endOnFailure: true,
    });
  });
});
