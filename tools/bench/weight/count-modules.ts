import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { MODULES_FILE: file = '' } = process.env;
const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.add(url);
    return next(url, context);
  },
});
process.once('exit', () => writeFileSync(file, `${loaded.size}`));
