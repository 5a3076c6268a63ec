// Serves two endpoints in a separate process. traces.test.ts starts it.
import { createRequire } from 'node:module';
import { sendJson } from '@clinical-launch/http/answer';
import { endpoint } from '@clinical-launch/http/endpoint';
import { problemDialect } from '@clinical-launch/http/errors';
import { runProcess } from '@clinical-launch/process/process';
import { inChildSpan } from '@clinical-launch/runtime/tracing';

const shared = { source: '/traced', dialect: problemDialect({ isProduction: false }) };
const endpoints = [
  endpoint({
    ...shared,
    path: '/modules',
    methods: {
      GET({ response, call }) {
        call.identify('client of a test', 'pms-1');
        sendJson(response, Object.keys(createRequire(import.meta.url).cache));
      },
    },
  }),
  endpoint({
    ...shared,
    path: '/fails',
    methods: {
      GET: () =>
        inChildSpan({ name: 'call', attributes: {} }, async () => {
          throw new Error('Whitfield');
        }),
    },
  }),
];

await runProcess({
  name: 'traced',
  configure: () => undefined,
  open: async () => ({ mounts: [{ path: '/', service: { name: 'traced', endpoints } }] }),
});
