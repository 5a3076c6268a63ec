import { readTogether } from '@clinical-launch/service/environment';
import { runProcess } from '@clinical-launch/service/process/process';
import { readSimulatorConfig } from './simulator.ts';
import { simulators } from './simulators.ts';

await runProcess({
  name: 'simulators',
  configure: (environment) => readTogether({ simulators: () => readSimulatorConfig(environment) }),
  open: async ({ simulators: config }, tools) => ({
    mounts: [{ path: '/', service: simulators(config, tools) }],
  }),
});
