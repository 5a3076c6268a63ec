import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { validate } from './objects.ts';
import { renderChanged, root, withComponents } from './render.ts';

/**
 * Matches commented YAML: a line without a space after its `#`, and the following lines with the indentation
 * of YAML after theirs. In prose, one space follows the `#`.
 */
const commented = /^( *)#\S.*(?:\n\1# {2}.*)*/gm;

const texts = globSync(['k8s/**/*.{yaml,yml}', 'deploy/**/*.{yaml,yml}'], { cwd: root }).map((file) => ({
  file,
  text: readFileSync(`${root}${file}`, 'utf8'),
}));
const recipes = texts.flatMap(({ file, text }) =>
  [...text.matchAll(commented)].map(([recipe]) => ({ file, recipe, title: recipe.split('\n')[0]?.trim() })),
);

/** The overlay that an operator changes, with the component that reads `file`. */
const changesFor = (file: string) =>
  file.startsWith('deploy/telemetry/otel/') ? [withComponents('collector')] : [];

describe('commented YAML', () => {
  it('has no space after its `#`, and prose has one', () => {
    const others = texts.flatMap(({ file, text }) =>
      [...text.replaceAll(commented, '').matchAll(/^ *#(?! [^\s-]|$).*/gm)].map(
        ([line]) => `${file}: ${line}`,
      ),
    );
    expect(others).toEqual([]);
    expect(recipes.length).toBeGreaterThan(10);
  });

  it.each(recipes)(
    '$title in $file renders valid objects when it is uncommented',
    async ({ file, recipe }) => {
      const before = changesFor(file);
      const uncommented = recipe.replaceAll(/^( *)#/gm, '$1');
      const edit = (text: string) => text.replace(recipe, () => uncommented);
      const objects = renderChanged('production', ...before, { file, edit });
      await Promise.all(objects.map(validate));
      expect(objects).not.toEqual(renderChanged('production', ...before));
    },
  );
});
