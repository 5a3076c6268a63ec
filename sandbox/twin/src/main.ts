#!/usr/bin/env node
// An older Node cannot load the other modules, or `enableCompileCache`, so the version is checked first.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  process.stderr.write(`The twin needs Node 24.11 or newer, and this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
// Enables the compile cache before other modules are loaded, so that all modules are cached.
const { enableCompileCache } = await import('node:module');
enableCompileCache();
const { runTwin } = await import('./run.ts');
process.exitCode = await runTwin(process.argv.slice(2));
