import { createHash } from 'node:crypto';
import type { TestRequest } from './test-request.ts';

type SentForm = {
  readonly launchId: string;
  /** The request that the form changes. */
  readonly guid: string;
  /** All fields of the form. */
  readonly sent: string;
};

/**
 * Derives the GUID of a submission from its form, so that the same form sent twice is one submission. A page
 * from the browser history with other entries has the same hidden fields, but is another submission.
 */
export const submissionIdOf = ({ launchId, guid, sent }: SentForm) => guidFrom([launchId, guid, sent]);

/**
 * Derives the GUID of the draft that begins with this version of a request, so that the review page can name
 * the draft before it is stored.
 */
export const draftIdOf = (launchId: string, { guid, version }: Pick<TestRequest, 'guid' | 'version'>) =>
  guidFrom(['draft', launchId, guid, version]);

/**
 * Returns the first 128 bits of a SHA-256, written as a GUID. Stored submissions have such ids, so the
 * derivation must not change.
 */
function guidFrom(parts: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
