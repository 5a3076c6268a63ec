import { dirname, resolve } from 'node:path';
import { type Answers, UsageError } from '@clinical-launch/process/command-line';
import { readDirectoryFile } from '@clinical-launch/trust/directory-file';
import { requiredOption } from '../command.ts';
import { addClient, addPartner } from './clients.ts';
import { options as o } from './options.ts';
import {
  type Context,
  directoryProblems,
  type Edit,
  placeholder,
  type Reported,
} from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

const titles: Readonly<Record<string, string>> = {
  client_id: 'Client id',
  base_address: 'Base address',
  issuer: 'Issuer',
  authorization_endpoint: 'Authorization endpoint',
  token_endpoint: 'Token endpoint',
  scope: 'Scope',
  launch_endpoint: 'Launch endpoint',
  check_endpoint: 'The same checks without a launch',
  practices: 'Practices',
  laboratories: 'Laboratories',
  callback: 'Callback',
  guide: 'Guide',
};

/**
 * Registers a practice management system. Reports the values for its vendor, and writes them to the file of
 * `--sheet`, without the secret.
 */
export function addPms(document: RegistryDocument, answers: Answers, context: Context): Edit {
  const { publicUrl } = context;
  return withSheet(addClient(document, answers, ['ocs-launch.write']), answers, {
    context,
    guide: 'pms',
    values: [
      ...addressesOf(context),
      ['launch_endpoint', `${publicUrl}/AccessApi/RequestLaunchUrl`],
      ['check_endpoint', `${publicUrl}/AccessApi/Validate`],
      ['laboratories', laboratoriesOf(document, answers)],
      ['callback', 'none until registry set-callback'],
    ],
    more: 'To have order documents posted to you, give the operator an https address.',
  });
}

/** Registers a host application, with reports as `addPms`. */
export function addHost(document: RegistryDocument, answers: Answers, context: Context): Edit {
  return withSheet(addClient(document, answers, ['launch.issue']), answers, {
    context,
    guide: 'host',
    values: addressesOf(context),
    more: 'The operator names the realm of the partner applications, whose launches you request.',
  });
}

/** Registers a partner application, with reports as `addPms`. */
export function addPartnerWithSheet(document: RegistryDocument, answers: Answers, context: Context): Edit {
  return withSheet(addPartner(document, answers), answers, {
    context,
    guide: 'partner',
    values: [],
    more: 'To be told when a launch ends, give the operator an https address for logout tokens.',
  });
}

const addressesOf = ({ publicUrl, audience }: Context): Reported => [
  ['base_address', publicUrl],
  ['scope', `${audience}/.default`],
];

/** Returns the codes of the laboratories that the directory of a client accepts as performer. */
function laboratoriesOf({ path }: RegistryDocument, answers: Answers): string {
  const [name] = answers.get('directory') ?? [];
  if (name === undefined || directoryProblems(path, [name]).length > 0) return 'ask the operator';
  const { performers } = readDirectoryFile(resolve(dirname(path), name));
  return performers === undefined ? 'ask the operator' : [...performers].join(', ');
}

type Sheet = {
  readonly context: Context;
  readonly guide: 'pms' | 'host' | 'partner';
  readonly values: Reported;
  /** The last sentence about the access. */
  readonly more: string;
};

function withSheet(
  { reported: registered, ...edit }: Edit,
  answers: Answers,
  { context: { publicUrl }, guide, values: added, more }: Sheet,
): Edit {
  const address = `${publicUrl}/developers/guides/${guide}`;
  const reported: Reported = [...registered, ...added, ['guide', address]];
  const path = answers.get(o.sheet.name)?.[0];
  if (path === undefined) return { ...edit, reported };
  if (publicUrl === placeholder)
    throw new UsageError('--sheet needs PUBLIC_URL, because the addresses on the sheet begin with it');
  const values = new Map(reported.map(([name, value]) => [name, value.replace(placeholder, publicUrl)]));
  // The reported texts for practices and callback are for the operator, so the sheet contains other texts.
  if (values.has('practices') && !answers.has('practices')) values.set('practices', 'to be agreed');
  if (values.has('callback')) values.set('callback', 'none');
  const name = requiredOption(answers, { name: 'name' }).replaceAll(/\s+/g, ' ');
  const rows = Object.entries(titles).flatMap(([key, title]) => {
    const value = values.get(key);
    return value === undefined ? [] : `| ${title} | ${cell(value)} |`;
  });
  const secret = values.has('client_secret')
    ? 'You receive the client secret separately. It is shown once, and only its hash is stored.'
    : 'There is no secret: you authenticate with what you registered, or with PKCE alone.';
  const text = `# ${name}: access to Clinical Launch

| | |
|---|---|
${rows.join('\n')}

${secret} ${more} If the guide is not at its address, the operator sends \`docs/guides/${guide}.md\`.

Store the reference of each answer (\`X-Correlation-Id\`), so that the support desk can find the request.
`;
  return { ...edit, reported: [...reported, ['sheet', path]], newFile: { path, text } };
}

const cell = (value: string) => `\`${value.replaceAll('|', '\\|')}\``;
