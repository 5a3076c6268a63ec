import { fileURLToPath } from 'node:url';
import { type Clock, type Environment, originSetting, readEnvironment } from '@clinical-launch/service';
import { pageHeaders } from '@clinical-launch/service/pages';
import { createPages } from '@clinical-launch/service/pages/templates';
import type { Response } from 'express';
import { Type } from 'typebox';
import { type Dialect, readDialect } from './dialect.ts';

export type SimulatorConfig = {
  /** The platform's address as browsers see it. */
  readonly publicUrl: string;
  /** The platform's address as the simulators' backends reach it. */
  readonly platformUrl: string;
  readonly dialect: Dialect;
};

const environmentSchema = Type.Object({
  PUBLIC_URL: originSetting,
  PLATFORM_URL: Type.Optional(
    Type.String({ pattern: '^https?://', description: 'must be an http or https address' }),
  ),
});

/** Reads the simulators' configuration. @throws ConfigurationError that names the faulty variables. */
export function readSimulatorConfig(environment: Environment): SimulatorConfig {
  const { PUBLIC_URL, PLATFORM_URL } = readEnvironment(environmentSchema, environment);
  const dialect = readDialect(environment);
  return Object.freeze({ publicUrl: PUBLIC_URL, platformUrl: PLATFORM_URL ?? PUBLIC_URL, dialect });
}

/** What each simulator is made with. */
export type Simulation = {
  readonly config: SimulatorConfig;
  readonly clock: Clock;
  /** The address at which this backend reaches what browsers find at `address`. */
  readonly reach: (address: string) => string;
  /** Answers with a page of the named application. */
  readonly show: (response: Response, template: string, model: object) => void;
  /** Sends the browser elsewhere with a GET. */
  readonly sendTo: (response: Response, address: string) => void;
};

/** Prepares what the simulators have in common. */
export function createSimulation(config: SimulatorConfig, clock: Clock): Simulation {
  const { publicUrl, platformUrl } = config;
  const pages = createPages(fileURLToPath(new URL('.', import.meta.url)));
  // Forms lead to the platform's own address, also for who opened the simulators at another name of this machine.
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash], formActions: [publicUrl] });
  return {
    config,
    clock,
    reach: (address) =>
      address.startsWith(`${publicUrl}/`) ? platformUrl + address.slice(publicUrl.length) : address,
    show: (response, template, model) =>
      void response.set(headers).type('html').send(pages.render(template, model)),
    sendTo: (response, address) => response.set(headers).redirect(303, address),
  };
}

const remembered = 200;

/** What a simulator remembers: it runs for ever, so the oldest is forgotten. */
export class Memory<Kept> extends Map<string, Kept> {
  override set(key: string, value: Kept): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > remembered && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
