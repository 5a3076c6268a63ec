import type { Priority } from './test-request.ts';

/** The search of a launch's list. It names patients, so it must not appear in an address. */
export type ListSearch = { readonly text: string; readonly priority?: Priority };
