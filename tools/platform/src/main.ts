import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Enabled before other modules are loaded, so that all of them are cached. NODE_COMPILE_CACHE takes
// precedence.
enableCompileCache(fileURLToPath(new URL('../../../.cache/compiled', import.meta.url)));
await import('./start.ts');
