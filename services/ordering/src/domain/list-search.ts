import type { Priority } from './test-request.ts';

/** What the list of a launch is narrowed to. It names patients, so that an address must not have it. */
export type ListSearch = { readonly text: string; readonly priority?: Priority };
