#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Enables the compile cache before other modules are loaded, so that all modules are cached.
enableCompileCache();
const { runTwin } = await import('./run.ts');
process.exitCode = await runTwin(process.argv.slice(2));
