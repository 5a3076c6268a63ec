/**
 * Node's HTTP as `require` loads it. An `import` of `node:http` reads all members of the module, among them
 * those for which Node loads undici: 30 ms of a process's start, and 12 MiB.
 */
export const http = process.getBuiltinModule('node:http');
