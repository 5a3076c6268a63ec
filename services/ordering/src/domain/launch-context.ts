import {
  actions,
  compileSchema,
  guidPattern,
  type LaunchContext,
  orderSchema,
  practiceBindingSchema,
} from '@clinical-launch/contracts';
import { Type } from 'typebox';

const { patient, requester, practice, performer, authoredOn } = orderSchema.properties;

/** The context of a launch session, as the launch API wrote it. */
const launchContextSchema = Type.Object({
  launchId: Type.String({ pattern: guidPattern }),
  client: Type.Object({
    issuer: Type.String(),
    clientId: Type.String(),
    frameAncestors: Type.Array(Type.String()),
    resultOrigin: Type.Optional(Type.String()),
    practices: Type.Optional(practiceBindingSchema),
  }),
  request: Type.Object({
    action: Type.Enum([...actions]),
    originatingId: Type.String(),
    authoredOn,
    author: Type.Object({ username: Type.String(), name: requester.properties.name }),
    patient,
    requester,
    practice,
    performer,
  }),
});

const compiled = compileSchema(launchContextSchema);

/**
 * Checks that a session's content is a launch context.
 * @throws TypeError naming the faulty paths, never the values.
 */
export function parseLaunchContext(candidate: unknown): LaunchContext {
  if (compiled.is(candidate)) return candidate;
  const said = compiled.faultsOf(candidate).map(({ path, message }) => `${path} ${message}`);
  throw new TypeError(`This is no launch context: ${said.join('; ')}`);
}
