import { openOrderingDatabase } from '../src/store/database.ts';
import type { Application, OpenLaunch } from './launches.ts';

/** A launch that records the samples of the request `guid`. */
export type Collector = OpenLaunch & { guid: string };

/** Tests that need three samples of two laboratories, in order of draw: serum S1, EDTA blood S2, urine S3. */
export const threeSamples = ['BUE', 'HFBC', 'KMSU'];
/** The initial time of the test clock, and the name of the user of each launch. */
export const now = '2026-03-02T09:30:00.000Z';
export const author = 'Okonkwo, Adaeze (Dr)';

/** Returns the path of the page for recording samples, relative to the launch. */
export const samplesPage = ({ guid }: { guid: string }) => `requests/${guid}/samples`;
/** Returns the path of the result page, from the root. */
export const resultOf = ({ home, guid }: Collector) => `${home}orders/${guid}`;

/**
 * Returns the fields that a browser sends for the form of this page after the user makes these changes.
 * `undefined` removes a field.
 */
export function filledIn(
  html: string,
  changes: Record<string, string | undefined> = {},
): Map<string, string> {
  const fields = new Map<string, string>([['action', 'record']]);
  const form = html.slice(html.indexOf('name="submission"') - 200);
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1];
    const isSent = !input.includes('type="checkbox"') || input.includes(' checked');
    if (name !== undefined && isSent) fields.set(name, /value="([^"]*)"/.exec(input)?.[1] ?? '');
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) fields.delete(name);
    else fields.set(name, value);
  }
  return fields;
}

/** Returns the fields of the ticked checkboxes of these samples. */
export const taken = (...ids: string[]) => Object.fromEntries(ids.map((id) => [`taken:${id}`, 'yes']));

/** Reads the page for recording samples, fills in the form and sends it. */
export async function record(
  launch: Collector,
  changes: Record<string, string | undefined>,
  html?: string,
): Promise<Response> {
  const fields = filledIn(html ?? (await launch.page(samplesPage(launch))), changes);
  return launch.post(samplesPage(launch), [...fields]);
}

/** Returns the stored row of a request. */
export async function stored({ storage }: Pick<Application, 'storage'>, { guid }: { guid: string }) {
  const database = await openOrderingDatabase(storage);
  return database.selectFrom('test_requests').selectAll().where('guid', '=', guid).executeTakeFirstOrThrow();
}

/** Returns for each sample who collected it, when, and the number of tubes. */
export async function recordedOf(application: Application, request: { guid: string }) {
  const { batches } = await stored(application, request);
  return Object.fromEntries(
    batches.flatMap(({ samples }) =>
      samples.map(({ id, completedAt, collectedBy, quantity }) => [
        id,
        { ...(completedAt === undefined ? {} : { completedAt, collectedBy }), quantity: quantity ?? 1 },
      ]),
    ),
  );
}

/** Returns the links of the error summary, each as `#id message`. */
export const problemsOf = (html: string) =>
  [...html.matchAll(/<a href="(#[^"]*)">\s*([^<]*?)\s*<\/a>/g)].map(([, to, text]) => `${to} ${text}`);
