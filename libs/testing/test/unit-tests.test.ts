import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findTestFiles } from '../src/jest/test-files.ts';
import { isUnitTest } from '../src/needs.ts';

describe('a unit test', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'clinical-launch-unit-'));
    mkdirSync(join(folder, 'test'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Writes a test that imports a module with this text. */
  function aTestThatUses(name: string): string {
    const file = join(folder, 'test/some.test.ts');
    writeFileSync(file, `import './uses.ts';`);
    writeFileSync(join(folder, 'test/uses.ts'), name);
    return file;
  }

  it('may run services in its own process', () => {
    expect(isUnitTest(aTestThatUses('serveForTest()'))).toBe(true);
  });

  it.each([
    ['a shared server', `process.env.${'TEST_REDIS_'}URL`],
    ['a database', `create${'TestDatabase'}()`],
    ['a storage', `open${'TestStorage'}()`],
    ['an embedded database', `open${'EmbeddedStorage'}()`],
    ['a private server', `start${'Redis'}()`],
    ['a browser', `start${'Chromium'}()`],
    ['the whole platform', `start${'Platform'}()`],
    ['another process', `import 'node:child${'_process'}'`],
  ])('does not use %s', (_what, text) => {
    expect(isUnitTest(aTestThatUses(text))).toBe(false);
  });
});

describe('the test files', () => {
  it('each belong to one tier', () => {
    const tiers = findTestFiles();
    const all = Object.values(tiers).flat();
    expect(new Set(all).size).toBe(all.length);
    expect(Object.entries(tiers).filter(([, files]) => files.length === 0)).toEqual([]);
    expect(tiers.unit).toContain(import.meta.filename);
  });
});
