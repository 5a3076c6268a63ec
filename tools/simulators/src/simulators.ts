import { fileURLToPath } from 'node:url';
import { serveAssets } from '@clinical-launch/pages/templates';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import { hostSimulator } from './host/simulator.ts';
import { partnerSimulator } from './partner/simulator.ts';
import { pmsSimulator } from './pms/simulator.ts';
import { records } from './records.ts';
import { createSimulation, type SimulatorConfig, simulated } from './simulator.ts';
import { staffSimulator } from './staff/simulator.ts';

/**
 * Creates the applications around the platform, for the demo: a practice management system, a host
 * application and a partner application, each using it as a real one would, and the identity provider of its
 * staff. `/` leads to them.
 */
export function simulators(config: SimulatorConfig, { clock }: { clock: Clock }): Service {
  const simulation = createSimulation(config, clock);
  const application = { name: 'Clinical Launch', home: '/' };
  const start = simulated('/', {
    GET: ({ response }) => simulation.show(response, 'views/index.njk', { application, records }),
  });
  const staff = staffSimulator(simulation);
  return {
    name: 'simulators',
    endpoints: [
      start,
      ...pmsSimulator(simulation),
      ...hostSimulator(simulation),
      ...partnerSimulator(simulation),
      ...staff.endpoints,
    ],
    below: [
      { path: '/demo/assets', serve: serveAssets(fileURLToPath(new URL('./public', import.meta.url))) },
      ...staff.below,
    ],
  };
}
