/**
 * `node tools/release/release-notes.ts v1.0.0 [metadata.json]`: prints the section of CHANGELOG.md for a tag. With
 * the metadata file of `docker buildx bake`, also prints the images by digest, as the kustomization of an
 * overlay lists them. Fails (exit code 1) if the changelog has no section for the tag. Also fails if the
 * platform or the package for a PMS has another version.
 */
import { readFileSync } from 'node:fs';

const [tag = '', metadataFile] = process.argv.slice(2);
const version = tag.replace(/^v/, '');
const section = sectionOf(readFileSync('CHANGELOG.md', 'utf8'));
const faults = [
  ...['package.json', 'libs/pms-client/package.json'].flatMap((file) => {
    const manifest: { readonly version: string } = JSON.parse(readFileSync(file, 'utf8'));
    return tag === `v${manifest.version}` ? [] : [`${file} has the version ${manifest.version}`];
  }),
  ...(section === '' ? [`CHANGELOG.md has no section "## ${version} – <date>" with text`] : []),
];
if (faults.length > 0) {
  process.stderr.write(`The tag ${tag} cannot be released:\n${faults.join('\n')}\n`);
  process.exitCode = 1;
} else {
  const images = metadataFile === undefined ? '' : imagesIn(readFileSync(metadataFile, 'utf8'));
  process.stdout.write(`${section}\n${images}`);
}

function sectionOf(changelog: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((text) => text.startsWith(`${version} – `)) ?? '';
  return found.split('\n').slice(1).join('\n').trim();
}

function imagesIn(metadata: string): string {
  const targets: Readonly<Record<string, { 'image.name'?: string; 'containerimage.digest'?: string }>> =
    JSON.parse(metadata);
  const images = Object.values(targets).flatMap((target) => {
    const digest = target['containerimage.digest'];
    if (digest === undefined) return [];
    const [, registry = '', name] = /^(.*\/)?([^/:]+):[^:]*$/.exec(target['image.name'] ?? '') ?? [];
    if (name === undefined) throw new Error(`The metadata names no image with the digest ${digest}`);
    return [`  - name: ${name}\n    newName: ${registry}${name}\n    digest: ${digest}\n`];
  });
  if (images.length === 0) throw new Error('The metadata names no image');
  return `\n\`\`\`yaml\nimages:\n${images.join('')}\`\`\`\n`;
}
