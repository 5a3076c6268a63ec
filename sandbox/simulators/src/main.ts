import { runProcess } from '@clinical-launch/process/process';
import { readTogether } from '@clinical-launch/runtime/environment';
import { fixedRegistry, readRegistryFile } from '@clinical-launch/trust/registry-file';
import { readSimulatorConfig } from './simulator.ts';
import { simulators } from './simulators.ts';

const demoRegistry = new URL('../registry.json', import.meta.url);

await runProcess({
  name: 'simulators',
  configure: (environment) => readTogether({ simulators: () => readSimulatorConfig(environment) }),
  async open({ simulators: config }, tools) {
    const registry = fixedRegistry(readRegistryFile(tools.environment.REGISTRY_FILE || demoRegistry, config));
    return { mounts: [{ path: '/', service: simulators(config, { ...tools, registry }) }] };
  },
});
