import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import { namespaceSettings, namespacesOf } from '@clinical-launch/runtime/namespace-settings';
import { audienceSetting } from '@clinical-launch/trust/trust';

/** The scope and namespaces that callers of a platform must use, as its operator configured them. */
export type PlatformNames = {
  /** The scope for all rights of a client: `<APP_ID_URI>/.default`. */
  readonly scope: string;
  readonly namespaces: Namespaces;
};

const environmentSchema = Type.Object({ AUDIENCE: audienceSetting, ...namespaceSettings });

/** Reads the names from the platform's own settings. @throws ConfigurationError */
export function readPlatformNames(environment: Environment): PlatformNames {
  const read = readEnvironment(environmentSchema, environment);
  return platformNamesOf({ audience: read.AUDIENCE, namespaces: namespacesOf(read) });
}

/** Returns the names of a platform with this APP_ID_URI and these namespaces. */
export function platformNamesOf({
  audience,
  namespaces,
}: {
  readonly audience: string;
  readonly namespaces: Namespaces;
}): PlatformNames {
  return { scope: `${audience}/.default`, namespaces };
}
