/**
 * `node tools/release/sbom.ts > sbom.json`: prints a CycloneDX bill of materials of the production components in
 * the lock file. `npm sbom --omit dev` also omits production dependencies that development dependencies
 * share, so development components are removed here instead.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

type Component = {
  name: string;
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
};
type BillOfMaterials = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

const { status, stdout } = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (status !== 0) process.exit(status ?? 1);

const everything: BillOfMaterials = JSON.parse(stdout);
const { name }: { name: string } = JSON.parse(readFileSync('package.json', 'utf8'));
const components = everything.components.filter(
  ({ properties = [] }) => !properties.some((property) => property.name === 'cdx:npm:package:development'),
);
const kept = new Set([everything.metadata.component, ...components].map((component) => component['bom-ref']));
const dependencies = everything.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
// npm names the product after the directory.
const metadata = { ...everything.metadata, component: { ...everything.metadata.component, name } };
process.stdout.write(`${JSON.stringify({ ...everything, metadata, components, dependencies }, null, 2)}\n`);
