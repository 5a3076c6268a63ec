import { type Environment, readEnvironment } from '@clinical-launch/service';
import { Type } from 'typebox';

export type ResourceApiConfig = {
  /** Requests in any one second from one address; no limit when absent. */
  readonly requestsPerSecondPerAddress?: number;
};

const environmentSchema = Type.Object({
  REQUESTS_PER_SECOND_PER_ADDRESS: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** Reads the service's configuration from the environment. @throws ConfigurationError that names the faulty variables. */
export function readResourceApiConfig(environment: Environment): ResourceApiConfig {
  const { REQUESTS_PER_SECOND_PER_ADDRESS: perAddress } = readEnvironment(environmentSchema, environment);
  return Object.freeze(perAddress === undefined ? {} : { requestsPerSecondPerAddress: perAddress });
}
