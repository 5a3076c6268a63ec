import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createRecorder, type Recorder } from '@clinical-launch/conformance/recorder';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { redirect, sendText, setHeaders } from '@clinical-launch/http/answer';
import { type Endpoint, endpoint, type Handler } from '@clinical-launch/http/endpoint';
import { problemDialect } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { createPages } from '@clinical-launch/pages/templates';
import type { Clock } from '@clinical-launch/runtime/clock';
import {
  ConfigurationError,
  type Environment,
  isProduction,
  publicUrlSetting,
  readEnvironment,
} from '@clinical-launch/runtime/environment';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import { type PlatformNames, readPlatformNames } from './platform-names.ts';
import { createVisits, type Visits } from './wire/visits.ts';

export type SimulatorConfig = {
  /** The platform's address for browsers. */
  readonly publicUrl: string;
  readonly platformUrl: string;
  readonly names: PlatformNames;
};

const environmentSchema = Type.Object({
  PUBLIC_URL: publicUrlSetting,
  PLATFORM_URL: optionalText({ pattern: '^https?://', description: 'must be an http or https address' }),
});

/**
 * Reads the simulators' configuration.
 * @throws ConfigurationError that names the invalid variables. Always throws in production, where the real
 * systems replace the simulators
 */
export function readSimulatorConfig(environment: Environment): SimulatorConfig {
  if (isProduction(environment))
    throw new ConfigurationError(['NODE_ENV is production, and the simulators are for demos']);
  const { PUBLIC_URL, PLATFORM_URL } = readEnvironment(environmentSchema, environment);
  const names = readPlatformNames(environment);
  return Object.freeze({ publicUrl: PUBLIC_URL, platformUrl: PLATFORM_URL ?? PUBLIC_URL, names });
}

export type Simulation = {
  readonly config: SimulatorConfig;
  readonly clock: Clock;
  readonly registry: RegistrySource;
  /** Records requests and answers for the page that shows them. */
  readonly recorder: Recorder;
  readonly visits: Visits;
  /** Converts `address`, which is for browsers, to the address that this backend calls. */
  readonly reach: (address: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the HTML of a page. `model.application` names the application. */
  readonly page: (template: string, model: object) => string;
  /** Answers with a page. `model.application` names the application. */
  readonly show: (response: ServerResponse, template: string, model: object) => void;
  readonly sendTo: (response: ServerResponse, address: string) => void;
};

/** What the platform or a test passes to the simulators. */
export type Dependencies = Pick<Simulation, 'clock' | 'registry'>;

/** Prepares the shared parts of the simulators. */
export function createSimulation(config: SimulatorConfig, { clock, registry }: Dependencies): Simulation {
  const { publicUrl, platformUrl } = config;
  const pages = createPages(fileURLToPath(new URL('.', import.meta.url)));
  // Forms lead to the platform's own address, even if the user opened the simulators under another name of
  // this machine.
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash], formActions: [publicUrl] });
  return {
    config,
    clock,
    registry,
    recorder: createRecorder(clock),
    visits: createVisits({ clock, isSecure: publicUrl.startsWith('https:') }),
    headers,
    page: (template, model) => pages.render(template, model),
    reach: (address) =>
      address.startsWith(`${publicUrl}/`) ? platformUrl + address.slice(publicUrl.length) : address,
    show(response, template, model) {
      setHeaders(response, headers);
      sendText(response, 'text/html', pages.render(template, model));
    },
    sendTo(response, address) {
      setHeaders(response, headers);
      redirect(response, address);
    },
  };
}

/** Answers the errors of the simulators. */
export const dialect = problemDialect({ isProduction: false });

/** Creates an endpoint of a simulator. Its requests cause no audit events. */
export const simulated = (
  path: string,
  methods: Readonly<Partial<Record<'GET' | 'POST', Handler>>>,
): Endpoint => endpoint({ path, source: '/simulators', dialect, methods });
