import type { Environment } from '@clinical-launch/runtime/environment';

/** The registry of the demo. */
export const demoRegistry = new URL(import.meta.resolve('@clinical-launch/simulators/registry.json'));

/** The developer portal and the applications of the demo, each undefined if it is off. */
export type Sandbox = Awaited<ReturnType<typeof loadSandbox>>;

/**
 * Loads what a vendor tries the platform with: the developer portal if it is on, and the applications of the
 * demo outside production. A process loads no other file of the sandbox.
 */
export async function loadSandbox({ NODE_ENV: mode, DEVELOPER_PORTAL: portal }: Environment) {
  const isDemo = mode !== 'production';
  return {
    portal: isDemo || portal === 'on' ? await loadPortal() : undefined,
    demo: isDemo ? await loadDemo() : undefined,
  };
}

const loadPortal = async () => ({
  ...(await import('@clinical-launch/portal/config')),
  ...(await import('@clinical-launch/portal/service')),
});

const loadDemo = async () => ({
  ...(await import('@clinical-launch/simulators/platform-names')),
  ...(await import('@clinical-launch/simulators/simulators')),
});

/**
 * Plays an OLTR launch and a desktop launch against the platform at `baseUrl`, and prints each step.
 * @throws Error that names the step that failed
 */
export async function playDemo(baseUrl: string, environment: Environment): Promise<void> {
  const { readPlatformNames } = await import('@clinical-launch/simulators/platform-names');
  const { playOltrLaunch } = await import('@clinical-launch/simulators/play/oltr-launch');
  const { playDesktopLaunch } = await import('@clinical-launch/simulators/play/desktop-launch');
  const played = { baseUrl, ...readPlatformNames(environment) };
  await playOltrLaunch(played);
  await playDesktopLaunch(played);
}
