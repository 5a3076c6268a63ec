import { readTogether } from '@clinical-launch/service';
import { runProcess } from '@clinical-launch/service/process';
import { pmsSimulator, readPmsSimulatorConfig } from './pms/simulator.ts';

await runProcess({
  name: 'simulators',
  configure: (environment) => readTogether({ pms: () => readPmsSimulatorConfig(environment) }),
  open: async ({ pms }, tools) => ({ mounts: [{ path: '/', service: pmsSimulator(pms, tools) }] }),
});
