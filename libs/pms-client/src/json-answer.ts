/** The members of a JSON answer; none when it is anything else, as a proxy's error page may be. */
export async function readJsonAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const answer: unknown = await response.json().catch(() => undefined);
  return isRecord(answer) ? answer : {};
}

/** Whether the value is an object with members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
