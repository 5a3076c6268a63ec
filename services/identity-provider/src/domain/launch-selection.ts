import type { Fault } from '@clinical-launch/contracts/fault';
import { singleLine } from '@clinical-launch/contracts/formats';
import { closedObject, compileSchema, type StaticOf } from '@clinical-launch/contracts/schema';
import { optionalText } from '@clinical-launch/contracts/type';

const line = (maxLength: number) =>
  optionalText({ ...singleLine, format: 'xml-text', minLength: 1, maxLength });

const selectors = { user: line(200), practice: line(50), partner: line(200) };

/** The request of a host application to end its launches. */
export const endingSchema = closedObject({ ...selectors, reason: line(100) });
const compiled = compileSchema(endingSchema);

export type Ending = StaticOf<typeof endingSchema>;

/**
 * Selects launches by the `userERN`, `ods` and `client_id` of their launch requests. A launch must match
 * every criterion that is present.
 */
export type LaunchSelection = Omit<Ending, 'reason'>;

/** Reads the body of a request to end launches. Returns all errors of an invalid body, without values. */
export function readEnding(
  body: unknown,
): { readonly ending: Ending } | { readonly faults: readonly Fault[] } {
  if (!compiled.is(body)) return { faults: compiled.faultsOf(body) };
  if (labelsOf(body).length > 0) return { ending: body };
  const message = `must contain ${Object.keys(selectors).join(', ')} or several of them`;
  return { faults: [{ path: '', message, code: 'required' }] };
}

/**
 * Returns the labels under which a launch is stored and found, the label with the fewest launches first. The
 * user's label is in lower case, because users are matched without regard to case, as in the operator's
 * command `launches end`.
 */
export function labelsOf({ user, practice, partner }: LaunchSelection): string[] {
  const labels = { user: user?.toLowerCase(), practice, partner };
  return Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
}
