import type { RequestListener } from 'node:http';
import type { EventBus } from '@clinical-launch/events/event-bus';
import { type AppOptions, createApp } from '@clinical-launch/http/app';
import type { Service } from './service.ts';

/** A service and the path below which it answers. With `/`, the service receives the path unchanged. */
export type Mount = { readonly path: string; readonly service: Service };

type StartOptions = Omit<AppOptions, 'mounts'> & {
  readonly mounts: readonly Mount[];
  readonly bus?: Pick<EventBus, 'consume'> | undefined;
};

export type StartedServices = {
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
