import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import type { Bench, Figure } from '../bench.ts';
import { figuresOf, runContest, shareOf } from '../contest.ts';
import { post } from '../load.ts';
import { keepAll, leaveFirstCore, startMeasured } from '../processes.ts';
import { signingAlgorithms, tokenRequest, writeRegistry } from '../registry.ts';

/** The required ratio of oidc-provider's cost, without an audit event, to the cost of our service. */
const goals = { RS256: 1.3, ES256: 1.7, EdDSA: 2 };

/**
 * Measures the CPU for a client credentials token, including its audit event, compared with
 * oidc-provider.
 */
export const tokens: Bench = {
  name: 'tokens',
  async run({ short, progress }) {
    await leaveFirstCore();
    const { kept, stop } = keepAll();
    try {
      const [redis, postgres] = [await kept(startRedis()), await kept(startPostgres())];
      const registry = await kept(writeRegistry());
      const ours = await kept(
        startMeasured({
          program: 'services/identity-provider/src/main.ts',
          environment: {
            REDIS_URL: redis.url,
            DATABASE_URL: postgres.url,
            // A missing broker does not delay requests.
            AMQP_URL: 'amqp://127.0.0.1:1',
            PUBLIC_URL: 'http://launch.example',
            REGISTRY_FILE: registry.path,
            IDENTITY_PROVIDER_URL: 'http://127.0.0.1:1',
          },
        }),
      );
      const figures: Figure[] = [];
      for (const algorithm of signingAlgorithms) {
        const { path, body } = tokenRequest(algorithm);
        const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
        const requests = Array.from({ length: short ? 100 : 3000 }, () => post(path, body, headers));
        const other = await kept(
          startMeasured({
            program: 'tools/bench/tokens/oidc-provider.ts',
            arguments: [algorithm],
            environment: {},
          }),
        );
        const results = await runContest(
          [
            { name: 'identity-provider', server: ours },
            { name: 'oidc-provider', server: other },
          ],
          async () => requests,
          {
            rounds: short ? 1 : 7,
            warmUps: short ? 1 : 2,
            progress: (text) => progress(`${algorithm}: ${text}`),
          },
        );
        const row = `token ${algorithm}`;
        const measured = figuresOf(row, results);
        figures.push(...measured, shareOf(measured, row, 'oidc-provider', goals[algorithm]));
        await other.stop();
      }
      return figures;
    } finally {
      await stop();
    }
  },
};
