import { hkdfSync } from 'node:crypto';
import {
  type EventSource,
  eventConsumers,
  eventSources,
  listenersOf,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import { Type } from '@clinical-launch/contracts/type';
import {
  createEventVerifier,
  createEventWriter,
  deriveEventKey,
  type EventSigningKey,
  type EventVerifier,
  type EventWriter,
  ForgedEventError,
} from '@clinical-launch/crypto/event-macs';
import {
  ConfigurationError,
  type Environment,
  inProduction,
  isProduction,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { meter } from '@clinical-launch/runtime/metrics';
import { readSharedKeys } from './sealing-keys.ts';

const signingSetting = 'EVENT_SIGNING_KEYS';
const verificationSetting = 'EVENT_VERIFICATION_KEYS';

/** The keys with which a service signs its events: one key for each service that consumes them. */
export const signingSettings = {
  [signingSetting]: Type.String({
    $comment: inProduction,
    title:
      'Keys that sign the events of this service, `service:key` for each service that consumes them, separated by commas. `ops -- secrets` writes them.',
  }),
};
export const verificationSettings = {
  [verificationSetting]: Type.String({
    $comment: inProduction,
    title:
      'Keys that verify the events of other services, `id:key` separated by commas. The signing keys are derived from them: HKDF-SHA-256 without salt, info `clinical-launch events of <service>`, 32 bytes.',
  }),
};

/** The settings that contain event keys. Each setting may be read from a file instead: `<NAME>_FILE`. */
export const eventKeySettings: readonly string[] = [signingSetting, verificationSetting];

/** The keys with which a process signs its own events and verifies the events of other services. */
export type EventKeys = {
  readonly writeEvent: EventWriter;
  /**
   * Returns the verifier of a consumer of this process, by the name of the consumer's queue. Returns
   * undefined for a consumer of another service.
   */
  readonly verifierOf: (consumer: string) => EventVerifier | undefined;
};

/**
 * Reads the event keys of a source of events. A process that is no source has no keys. `EVENT_SIGNING_KEYS`
 * contains an entry `service:key` for each service that consumes events of this source.
 * `EVENT_VERIFICATION_KEYS` of a consuming service contains its own keys, from which `deriveEventKey` derives
 * the key of each source. Keys are 32 bytes in Base64URL, several separated by commas. Outside production,
 * missing keys are derived from `SEALING_KEYS` or from the key of the demo.
 * @throws ConfigurationError with every problem at once: invalid keys and, in production, missing keys
 */
export function readEventKeys(environment: Environment, name: string): EventKeys {
  if (!isSource(name)) return { writeEvent: JSON.stringify, verifierOf: () => undefined };
  const { signing, verification } = readTogether({
    signing: () => readSigningKeys(environment, name),
    verification: () => readVerificationKeys(environment, name),
  });
  return eventKeysOf(signing, new Map([[name, verification]]));
}

const isSource = (name: string): name is EventSource => Object.hasOwn(eventSources, name);

/**
 * Derives the event keys of all services from `SEALING_KEYS`, for a single process that runs all services.
 * @throws ConfigurationError for the same reasons as `openSealers`
 */
export function readSharedEventKeys(environment: Environment): EventKeys {
  const sources = Object.keys(eventSources) as EventSource[];
  const signing = sources.flatMap((source) => sharedSigningKeys(environment, source));
  const verification = new Map(sources.map((name) => [name, sharedListenerKeys(environment, name)]));
  return eventKeysOf(signing, verification);
}

function eventKeysOf(
  signing: readonly EventSigningKey[],
  verification: ReadonlyMap<EventSource, readonly Uint8Array[]>,
): EventKeys {
  const consumers: readonly [string, { readonly service: ServiceName }][] = Object.entries(eventConsumers);
  const verifiers = new Map(
    consumers.flatMap(([consumer, { service }]) => {
      const keys = verification.get(service);
      if (keys === undefined || keys.length === 0) return [];
      const verify = createEventVerifier(service, keys);
      return [[consumer, verify] as const];
    }),
  );
  return {
    writeEvent: createEventWriter(signing),
    verifierOf(consumer) {
      const verify = verifiers.get(consumer);
      // Creates the counter here, because the keys are read before the metrics start.
      return verify === undefined ? undefined : counting(consumer, verify);
    },
  };
}

/** Counts events that fail verification. Each such event points to a configuration error or an attack. */
function counting(consumer: string, verify: EventVerifier): EventVerifier {
  const count = meter().createCounter('clinical_launch.events.refused', {
    description: 'Events that failed verification of their source; they are dead letters',
    unit: '{event}',
  });
  const about = { 'clinical_launch.consumer.name': consumer };
  // Starts at 0, because Prometheus sees no increase in a series whose first value is already 1.
  count.add(0, about);
  return (event) => {
    try {
      return verify(event);
    } catch (error) {
      if (error instanceof ForgedEventError) count.add(1, about);
      throw error;
    }
  };
}

function readSigningKeys(environment: Environment, source: EventSource): readonly EventSigningKey[] {
  const listeners = listenersOf(source);
  const isSet = Boolean(environment[signingSetting]);
  if (!isSet && !isProduction(environment)) return sharedSigningKeys(environment, source);
  const given = new Map(isSet ? entriesOf(environment, signingSetting) : []);
  assertNotOfDemo(environment, signingSetting, {
    keys: [...given.values()],
    ofDemo: sharedSigningKeys(demo, source).map(({ key }) => key),
  });
  const missing = listeners.filter((listener) => !given.has(listener));
  if (missing.length > 0) {
    throw new ConfigurationError(missing.map((listener) => `${signingSetting} has no key for ${listener}`));
  }
  return listeners.map((listener) => ({ source, listener, key: given.get(listener) ?? Buffer.alloc(0) }));
}

function readVerificationKeys(environment: Environment, service: EventSource): readonly Uint8Array[] {
  const isListening = Object.values(eventConsumers).some((consumer) => consumer.service === service);
  if (!isListening) return [];
  if (environment[verificationSetting]) {
    const keys = entriesOf(environment, verificationSetting).map(([, key]) => key);
    assertNotOfDemo(environment, verificationSetting, { keys, ofDemo: sharedListenerKeys(demo, service) });
    return keys;
  }
  if (isProduction(environment)) throw new ConfigurationError([`${verificationSetting} is not set`]);
  return sharedListenerKeys(environment, service);
}

/** An environment without settings. The keys derived from it are the publicly known keys of the demo. */
const demo: Environment = { NODE_ENV: 'demo' };

/** @throws ConfigurationError in production, when a key is a key of the demo. */
function assertNotOfDemo(
  environment: Environment,
  setting: string,
  { keys, ofDemo }: Readonly<Record<'keys' | 'ofDemo', readonly Uint8Array[]>>,
): void {
  const isOfDemo = keys.some((key) => ofDemo.some((known) => Buffer.compare(key, known) === 0));
  if (isProduction(environment) && isOfDemo)
    throw new ConfigurationError([`${setting} contains a key of the demo, which is publicly known`]);
}

/** @throws ConfigurationError when an entry is not `name:key`. */
function entriesOf(environment: Environment, setting: string): (readonly [string, Uint8Array])[] {
  return (environment[setting] ?? '').split(',').map((entry) => {
    const [, name, key] = /^\s*([a-z0-9-]{1,40}):([\w-]{43})=?\s*$/i.exec(entry) ?? [];
    if (name === undefined || key === undefined) {
      throw new ConfigurationError([
        `${setting} must be name:key, with a key of 32 bytes in Base64URL. Separate several with commas`,
      ]);
    }
    return [name, Buffer.from(key, 'base64url')] as const;
  });
}

function sharedListenerKeys(environment: Environment, listener: EventSource): readonly Uint8Array[] {
  const info = `clinical-launch events for ${listener}`;
  return readSharedKeys(environment).map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', info, 32)));
}

/**
 * Returns the signing keys of a source, derived from the first shared key. Consumers verify with keys derived
 * from every shared key.
 */
function sharedSigningKeys(environment: Environment, source: EventSource): readonly EventSigningKey[] {
  return listenersOf(source).flatMap((listener) =>
    sharedListenerKeys(environment, listener)
      .slice(0, 1)
      .map((key) => ({ source, listener, key: deriveEventKey(key, source) })),
  );
}
