/**
 * `npm run schemas`: writes `deploy/ops/src/migrations/released-schemas.json`, the schemas of this release.
 * Run it once when a release is made: later migrations are checked against them.
 */
import { writeFileSync } from 'node:fs';
import { version } from '../libs/service/src/version.ts';
import { describeRelease } from './ops/src/migrations/check-migrations.ts';
import { releasedSchemasFile } from './ops/src/migrations/released-schemas.ts';
import { serviceSchemas } from './ops/src/migrations/service-migrations.ts';

const described = await describeRelease(version, serviceSchemas);
writeFileSync(releasedSchemasFile, `${JSON.stringify(described, undefined, 2)}\n`);
