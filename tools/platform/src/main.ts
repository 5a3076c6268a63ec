import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Enables the compile cache before other modules are loaded, so that all modules are cached.
// NODE_COMPILE_CACHE takes precedence.
enableCompileCache(fileURLToPath(new URL('../../../.cache/compiled', import.meta.url)));
await import('./start.ts');
