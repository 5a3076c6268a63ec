import { createHash } from 'node:crypto';
import type { TestRequest } from './test-request.ts';

/**
 * Derives the GUID of a submission from all fields of its form, so that the same form sent twice is one
 * submission. If the user changes fields on a page from the browser history, the hidden fields are the same,
 * but the form is another submission.
 */
export const submissionIdOf = ({ launchId, guid, sent }: { launchId: string; guid: string; sent: string }) =>
  guidFrom([launchId, guid, sent]);

/**
 * Derives the GUID of the draft of a change to this version of a request. The review page contains this GUID
 * before the draft is stored.
 */
export const draftIdOf = (launchId: string, { guid, version }: Pick<TestRequest, 'guid' | 'version'>) =>
  guidFrom(['draft', launchId, guid, version]);

/**
 * Returns the first 128 bits of a SHA-256, in the format of a GUID. The ids of stored submissions were
 * derived in this way, so the derivation must not change.
 */
function guidFrom(parts: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
