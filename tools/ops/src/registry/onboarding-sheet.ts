import { type Answers, UsageError } from '@clinical-launch/process/command-line';
import { requiredOption } from '../command.ts';
import { addClient } from './clients.ts';
import { options as o } from './options.ts';
import { type Context, type Edit, placeholder, type Reported } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

const guide = 'docs/guides/pms.md';
const launchRight = 'ocs-launch.write';
const titles: Readonly<Record<string, string>> = {
  client_id: 'Client id',
  base_address: 'Base address',
  token_endpoint: 'Token endpoint',
  scope: 'Scope',
  launch_endpoint: 'Launch endpoint',
  check_endpoint: 'The same checks without a launch',
  practices: 'Practices',
  callback: 'Callback',
  guide: 'Guide',
};

/**
 * Registers a practice management system. Reports the values for its vendor, and writes them to the file of
 * `--sheet`, without the secret.
 */
export function addPms(document: RegistryDocument, answers: Answers, context: Context): Edit {
  const { reported: registered, ...edit } = addClient(document, answers, [launchRight]);
  const { publicUrl, audience } = context;
  const reported: Reported = [
    ...registered,
    ['base_address', publicUrl],
    ['scope', `${audience}/.default`],
    ['launch_endpoint', `${publicUrl}/AccessApi/RequestLaunchUrl`],
    ['check_endpoint', `${publicUrl}/AccessApi/Validate`],
    ['callback', 'none until registry set-callback'],
    ['guide', guide],
  ];
  const path = answers.get(o.sheet.name)?.[0];
  if (path === undefined) return { ...edit, reported };
  if (publicUrl === placeholder)
    throw new UsageError('--sheet needs PUBLIC_URL, because the addresses on the sheet begin with it');
  const values = new Map(reported.map(([name, value]) => [name, value.replace(placeholder, publicUrl)]));
  // The reported texts for practices and callback are for the operator, so the sheet contains other texts.
  if (!answers.has('practices')) values.set('practices', 'to be agreed');
  values.set('callback', 'none');
  return {
    ...edit,
    reported: [...reported, ['sheet', path]],
    newFile: { path, text: sheetOf(requiredOption(answers, { name: 'name' }), values) },
  };
}

function sheetOf(name: string, values: ReadonlyMap<string, string>): string {
  const rows = Object.entries(titles).map(([key, title]) => `| ${title} | ${cell(values.get(key) ?? '')} |`);
  const secret = values.has('client_secret')
    ? 'You receive the client secret separately. It is shown once, and only its hash is stored.'
    : 'You authenticate with the keys or the certificate that you registered. There is no secret.';
  return `# ${name.replaceAll(/\s+/g, ' ')}: access to Clinical Launch

| | |
|---|---|
${rows.join('\n')}

${secret} To have order documents posted to you, give the operator an https address.

Store the reference of each answer (\`X-Correlation-Id\`), so that the support desk can find the request.
`;
}

const cell = (value: string) => `\`${value.replaceAll('|', '\\|')}\``;
