// A process with a service of two pages, started by traces.test.ts.
import { createRequire } from 'node:module';
import { problemDialect } from '@clinical-launch/http/errors';
import { type Exchange, endpoint, openToAll } from '@clinical-launch/http/exchange';
import { createRouter } from '@clinical-launch/http/router';
import { runProcess } from '@clinical-launch/process/process';

const shared = { source: '/traced', dialect: problemDialect({ isProduction: false }), open: openToAll };
const router = createRouter();
router.all(
  '/modules',
  endpoint({
    ...shared,
    methods: {
      GET: ({ response, call }: Exchange) => {
        call.identify('client of a test', 'pms-1');
        response.json(Object.keys(createRequire(import.meta.url).cache));
      },
    },
  }),
);
router.all(
  '/fails',
  endpoint({
    ...shared,
    methods: {
      GET: () => {
        throw new Error('Whitfield');
      },
    },
  }),
);

await runProcess({
  name: 'traced',
  configure: () => undefined,
  open: async () => ({ mounts: [{ path: '/', service: { name: 'traced', router } }] }),
});
