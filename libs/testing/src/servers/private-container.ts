import {
  type ContainerRuntimeClient,
  GenericContainer,
  getContainerRuntimeClient,
  getReaper,
  ImageName,
  Wait,
} from 'testcontainers';
import { findFreePort, type PrivateServer, waitUntilUp } from './private-server.ts';

/** The image of a server, and the options with which it runs. */
export type ContainerPlan = {
  readonly image: string;
  readonly port: number;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** @param address host and port */
  url(address: string): string;
  isUp(url: string): Promise<boolean>;
};

const engineWithinMs = 5_000;
const pulledWithinMs = 180_000;

/**
 * Runs an image, after pulling it if it is absent. The reaper of testcontainers removes the container when
 * this process has ended. Returns undefined without a container engine.
 * @throws Error when the image is unavailable or does not start
 */
export async function runInContainer(plan: ContainerPlan): Promise<PrivateServer | undefined> {
  const engine = await findEngine();
  if (engine === undefined) return undefined;
  await inTime(engine.image.pull(ImageName.fromString(plan.image)), pulledWithinMs);
  // Chooses the port here, because the engine would publish a restarted container at another port each time.
  const port = { container: plan.port, host: await findFreePort() };
  const prepared = new GenericContainer(plan.image)
    .withExposedPorts(port)
    .withEnvironment({ ...plan.environment })
    .withWaitStrategy(Wait.forListeningPorts());
  const container = await (plan.command ? prepared.withCommand([...plan.command]) : prepared).start();
  const url = plan.url(`${container.getHost()}:${port.host}`);
  const waitUntilItIsUp = () => waitUntilUp(() => plan.isUp(url));
  await waitUntilItIsUp();
  return {
    url,
    stop: async () => void (await container.stop()),
    async kill() {
      const killed = engine.container.getById(container.getId());
      await killed.kill();
      await killed.wait();
    },
    async restart() {
      await container.restart();
      await waitUntilItIsUp();
    },
  };
}

let finding: Promise<ContainerRuntimeClient | undefined> | undefined;

/**
 * Returns the container engine with its reaper, if an engine answers. Servers that start at the same time
 * share one reaper.
 */
function findEngine(): Promise<ContainerRuntimeClient | undefined> {
  finding ??= inTime(getContainerRuntimeClient(), engineWithinMs).then(
    async (engine) => {
      await inTime(getReaper(engine), pulledWithinMs);
      return engine;
    },
    () => undefined,
  );
  return finding;
}

async function inTime<T>(done: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs);
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
