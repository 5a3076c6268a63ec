// Jest transform: the same type stripping by which Node runs the sources, so tests see what production sees.
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';

export default {
  process: (source) => ({ code: stripTypeScriptTypes(source, { mode: 'strip' }) }),
  getCacheKey: (source, file) =>
    createHash('sha1').update(process.version).update(file).update(source).digest('hex'),
};
