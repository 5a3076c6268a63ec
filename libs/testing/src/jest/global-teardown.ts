/** Jest's `globalTeardown`. */
export { tearDown as default } from './global-setup.ts';
