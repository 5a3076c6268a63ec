/**
 * `node tools/release/release-notes.ts v1.0.0 [metadata.json]`: prints the section of CHANGELOG.md for a tag. With
 * the metadata file of `docker buildx bake`, also prints the images by digest, as the kustomization of an
 * overlay lists them. Fails (exit code 1) if the changelog has no section for the tag. Also fails if the
 * platform or the package for a PMS has another version.
 */
import { readFileSync } from 'node:fs';
import { imagesIn } from './manifests.ts';

const [tag = '', metadataFile] = process.argv.slice(2);
const version = tag.replace(/^v/, '');
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
const found = sections.slice(1).find((text) => text.startsWith(`${version} – `)) ?? '';
const section = found.split('\n').slice(1).join('\n').trim();
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
  const images = metadataFile === undefined ? '' : `\n\`\`\`yaml\n${imagesIn(metadataFile)}\`\`\`\n`;
  process.stdout.write(`${section}\n${images}`);
}
