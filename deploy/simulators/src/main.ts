import { readTogether } from '@clinical-launch/service';
import { runProcess } from '@clinical-launch/service/process';
import { readSimulatorConfig } from './simulator.ts';
import { simulators } from './simulators.ts';

await runProcess({
  name: 'simulators',
  configure: (environment) => readTogether({ simulators: () => readSimulatorConfig(environment) }),
  open: async ({ simulators: config }, tools) => ({
    mounts: [{ path: '/', service: simulators(config, tools) }],
  }),
});
