/**
 * The module `node:http`, loaded without an `import`. An `import` reads all members of the module. Some of
 * them make Node load undici, which adds 30 ms to the start of a process and uses 12 MiB.
 */
export const http = process.getBuiltinModule('node:http');
