/**
 * `npm run audit:dependencies`: fails (exit code 1) if a production dependency has a known vulnerability of
 * high or critical severity. If the registry is unreachable (no network, or a mirror without advisories),
 * prints a one-line warning and succeeds, because a build must not depend on the network. With `--required`,
 * as in a release, it then fails. Any other failure of `npm audit` makes this command fail as well.
 */
import { spawnSync } from 'node:child_process';

const retries = 1;
const { status, stdout, stderr } = spawnSync(
  'npm',
  ['audit', '--omit=dev', '--audit-level=high', '--json', `--fetch-retries=${retries}`],
  { encoding: 'utf8', maxBuffer: 2 ** 26 },
);
const report = parse(stdout);

if (typeof report?.['vulnerabilities'] === 'object' && report['vulnerabilities'] !== null) {
  const found: [string, { severity?: unknown }][] = Object.entries(report['vulnerabilities']);
  for (const [name, { severity }] of found)
    process.stdout.write(`${name}: ${String(severity)}, see npm audit --omit=dev\n`);
  if (status === 0)
    process.stdout.write('No production dependency has a known vulnerability of high severity.\n');
  else
    process.stderr.write(
      'Update the dependencies above, or override the vulnerable version in package.json.\n',
    );
  process.exitCode = status ?? 1;
} else if (typeof report?.['message'] === 'string') {
  // Only a failed request to the registry sets `message`. Other errors, such as a missing lock file, do not.
  const [reason = ''] = report['message'].split('\n');
  process.stderr.write(
    `WARNING: dependencies were NOT audited, because the registry could not be reached: ${reason}\n`,
  );
  process.exitCode = process.argv.includes('--required') ? 1 : 0;
} else {
  process.stderr.write(`npm audit failed.\n${stderr}`);
  process.exitCode = 1;
}

function parse(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
