import { runProcess } from '@clinical-launch/process/process';
import { readTogether } from '@clinical-launch/runtime/environment';
import { readSimulatorConfig } from './simulator.ts';
import { simulators } from './simulators.ts';

await runProcess({
  name: 'simulators',
  configure: (environment) => readTogether({ simulators: () => readSimulatorConfig(environment) }),
  open: async ({ simulators: config }, tools) => ({
    mounts: [{ path: '/', service: simulators(config, tools) }],
  }),
});
