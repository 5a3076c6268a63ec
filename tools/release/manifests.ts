/**
 * `node tools/release/manifests.ts metadata.json <directory>`: copies what `kubectl kustomize` reads to
 * render the overlays into a new directory, with the images that `docker buildx bake` listed in the metadata
 * file, by digest.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the images in a metadata file of bake, as the kustomization of an overlay lists them.
 * @throws Error if there is no image, or one without a name
 */
export function imagesIn(metadataFile: string): string {
  const targets: Readonly<Record<string, { 'image.name'?: string; 'containerimage.digest'?: string }>> =
    JSON.parse(readFileSync(metadataFile, 'utf8'));
  const images = Object.values(targets).flatMap((target) => {
    const digest = target['containerimage.digest'];
    if (digest === undefined) return [];
    const [, registry = '', name] = /^(.*\/)?([^/:]+):[^:]*$/.exec(target['image.name'] ?? '') ?? [];
    if (name === undefined) throw new Error(`The metadata names no image with the digest ${digest}`);
    return [`  - name: ${name}\n    newName: ${registry}${name}\n    digest: ${digest}\n`];
  });
  if (images.length === 0) throw new Error('The metadata names no image');
  return `images:\n${images.join('')}`;
}

if (import.meta.main) {
  const [metadataFile = '', directory = ''] = process.argv.slice(2);
  const images = imagesIn(metadataFile);
  const registry = ['kustomization.yaml', 'registry.json'].map((name) => `sandbox/simulators/${name}`);
  for (const path of ['k8s', 'deploy/docker', 'deploy/telemetry', ...registry])
    cpSync(path, join(directory, path), { recursive: true });
  for (const overlay of ['demo', 'production']) {
    const file = join(directory, 'k8s/overlays', overlay, 'kustomization.yaml');
    // The images are the last list of each overlay.
    const text = readFileSync(file, 'utf8').replace(/^(?:#.*\n)*images:\n[^]*/m, () => images);
    writeFileSync(file, text);
  }
}
