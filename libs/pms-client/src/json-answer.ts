/**
 * Returns the members of a JSON answer. Returns an empty object if the answer is not a JSON object, such as
 * the error page of a proxy.
 */
export async function readJsonAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const answer: unknown = await response.json().catch(() => undefined);
  return isRecord(answer) ? answer : {};
}

/** Returns true if the value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
