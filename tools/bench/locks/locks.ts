import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { startChromium } from '@clinical-launch/testing/chromium';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import {
  type Application,
  aLaunchContext,
  aPatient,
  startOrdering,
} from '../../../services/ordering/test/launches.ts';
import { type Bench, quantile } from '../bench.ts';

type Browser = Awaited<ReturnType<typeof startChromium>>;

/** The limit for the 95th percentile, in milliseconds. */
const limitMs = 1000;

/** Opens two patients in one browser. Returns the milliseconds until the first window is locked. */
async function measure(application: Application, chromium: Browser): Promise<number> {
  const context = await chromium.newContext();
  const open = async () => {
    const launch = await application.openLaunch(aLaunchContext({ request: { patient: aPatient() } }));
    await context.addCookies([{ ...launch.browserCookie, path: launch.home }]);
    return { page: await context.newPage(), address: application.url + launch.home };
  };
  const [first, second] = [await open(), await open()];
  await first.page.goto(first.address, { waitUntil: 'load' });
  const startedAt = performance.now();
  await Promise.all([second.page.goto(second.address), first.page.getByRole('alertdialog').waitFor()]);
  const took = performance.now() - startedAt;
  await context.close();
  return took;
}

/**
 * Measures how soon scripts show that a window is locked, from the request for another patient's first page.
 */
export const locks: Bench = {
  name: 'locks',
  async run({ short, progress }) {
    const server = await startPostgres();
    const application = await startOrdering(() =>
      openPostgresStorage({ url: server.url, applicationName: 'locks' }),
    );
    const chromium = await startChromium();
    try {
      progress('opens two patients in one browser');
      const values: number[] = [];
      for (let round = 0; round < (short ? 5 : 50); round += 1)
        values.push(await measure(application, chromium));
      const name = 'another patient opened, until the first window is locked';
      return [
        { name: `${name}, median`, unit: 'ms', values: [quantile(values, 0.5)] },
        { name: `${name}, 95%`, unit: 'ms', values: [quantile(values, 0.95)], goal: { atMost: limitMs } },
      ];
    } finally {
      await chromium.close();
      await application.stop();
      await server.stop();
    }
  },
};
