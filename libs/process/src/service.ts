import type { RequestListener } from 'node:http';
import type { Consumer, EventBus } from '@clinical-launch/events/event-bus';
import { type AppOptions, createApp, type Mounted } from '@clinical-launch/http/app';

/**
 * A service, as its factory returns it. Factories open no socket, read no environment variable and use no
 * global.
 */
export type Service = Mounted & {
  readonly name: string;
  readonly consumers?: readonly Consumer[];
  /** Stops the background work of the service, after its current step. */
  stop?(): Promise<void>;
};

/** A service and the path below which it answers. With `/`, the service receives the path unchanged. */
export type Mount = { readonly path: string; readonly service: Service };

type StartOptions = Omit<AppOptions, 'mounts'> & {
  readonly mounts: readonly Mount[];
  readonly bus?: Pick<EventBus, 'consume'> | undefined;
};

type StartedServices = {
  readonly listener: RequestListener;
  /** Stops the services in reverse order. Close the server before this call, and the bus after it. */
  stop(): Promise<void>;
};

/**
 * Subscribes the consumers of services to the bus, and returns one HTTP listener that serves all services.
 */
export async function startServices({ mounts, bus, ...options }: StartOptions): Promise<StartedServices> {
  const services = mounts.map(({ service }) => service);
  for (const consumer of services.flatMap(({ consumers = [] }) => consumers)) await bus?.consume(consumer);
  return {
    listener: createApp({ mounts, ...options }),
    async stop() {
      for (const service of services.toReversed()) await service.stop?.();
    },
  };
}
