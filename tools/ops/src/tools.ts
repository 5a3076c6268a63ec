import type { Tool } from './command.ts';
import { toolLoaders } from './tool-loaders.ts';

/** Every tool of `npm run ops`, by name. */
export const tools: Readonly<Record<string, Tool>> = Object.fromEntries(
  await Promise.all(Object.entries(toolLoaders).map(async ([name, load]) => [name, await load()] as const)),
);
