import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns whether a file is a TypeScript module in a test folder of the repository. */
export function isTestModule(path: string): boolean {
  const within = path.startsWith(root) ? path.slice(root.length) : path;
  return /\/tests?\/.*\.ts$/.test(`/${within}`) && !within.includes('node_modules/');
}
