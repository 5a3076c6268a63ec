/**
 * Returns the members of a JSON answer. Returns an empty object for other answers, such as a proxy's error
 * page.
 */
export async function readJsonAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const answer: unknown = await response.json().catch(() => undefined);
  return isRecord(answer) ? answer : {};
}

/** Returns true if the value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
