import { fileURLToPath } from 'node:url';
import { serveAssets } from '@clinical-launch/pages/templates';
import type { Service } from '@clinical-launch/process/service';
import { hostSimulator } from './host/simulator.ts';
import { partnerSimulator } from './partner/simulator.ts';
import { pmsSimulator } from './pms/simulator.ts';
import { demoClients, partnersOf } from './registered.ts';
import { shownRecords } from './shown-patient.ts';
import { createSimulation, type Dependencies, type SimulatorConfig, simulated } from './simulator.ts';
import { staffSimulator } from './staff/simulator.ts';
import { wirePages } from './wire/pages.ts';

/**
 * Creates the applications around the platform for the demo: a practice management system, a host
 * application, a partner application, and the identity provider of the staff. Each uses the platform as a
 * real application would. The page at `/` links to them.
 */
export function simulators(config: SimulatorConfig, { clock, registry }: Dependencies): Service {
  const simulation = createSimulation(config, { clock, registry });
  const application = { name: 'Clinical Launch', home: '/' };
  const start = simulated('/', {
    GET({ response }) {
      const [clients, partners] = [demoClients(registry.current()), partnersOf(registry.current())];
      const model = { application, publicUrl: config.publicUrl, records: shownRecords, clients, partners };
      simulation.show(response, 'views/index.njk', model);
    },
  });
  const staff = staffSimulator(simulation);
  return {
    name: 'simulators',
    endpoints: [
      start,
      ...pmsSimulator(simulation),
      ...hostSimulator(simulation),
      ...partnerSimulator(simulation),
      ...wirePages(simulation),
      ...staff.endpoints,
    ],
    below: [
      { path: '/demo/assets', serve: serveAssets(fileURLToPath(new URL('./public', import.meta.url))) },
      ...staff.below,
    ],
  };
}
