/** Builds docs/reference/commands.md from the commands of the operator. */
import type { Command } from '@clinical-launch/ops/command';
import { tools } from '@clinical-launch/ops/tools';
import type { Option } from '@clinical-launch/process/command-line';

export const commandsFile = new URL('../../docs/reference/commands.md', import.meta.url);

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function optionRow({ name, value, summary, isOptional, isRepeatable }: Option): string {
  const notes = [
    ...(isOptional || value === undefined ? [] : ['required']),
    ...(isRepeatable ? ['can be repeated'] : []),
  ];
  const shape = `--${name}${value === undefined ? '' : ` <${value}>`}`;
  return `| ${code(shape)} | ${cell([summary, ...notes].join('; '))} |`;
}

function sectionOf(path: string, command: Command): string {
  const { summary, details, example, arguments: positionals = [], options = [], settings = [] } = command;
  const rows = [
    ...positionals.map(
      ({ name, summary: about, isOptional }) =>
        `| ${code(isOptional ? `[${name}]` : `<${name}>`)} | ${cell(about)} |`,
    ),
    ...options.map(optionRow),
    ...settings.map((setting) => `| ${code(setting.name)} | ${cell(setting.summary)} |`),
  ];
  return [
    `## ${path}`,
    cell([summary, details?.replaceAll('\n', ' ')].filter(Boolean).join(' ')),
    `\`\`\`sh\n${`./clinical-launch ${path} ${example ?? ''}`.trimEnd()}\n\`\`\``,
    ...(rows.length === 0
      ? []
      : [['| argument, option or setting | meaning |', '|---|---|', ...rows].join('\n')]),
  ].join('\n\n');
}

/** Returns the text of `docs/reference/commands.md`. */
export async function commandsText(): Promise<string> {
  const sections: string[] = [];
  for (const [name, { summary, load }] of Object.entries(tools)) {
    const tool = await load();
    const commands = 'run' in tool ? { [name]: { summary, ...tool } } : tool.commands;
    for (const [own, command] of Object.entries(commands))
      sections.push(sectionOf('run' in tool ? name : `${name} ${own}`, command));
  }
  return `<!-- Written by \`npm run docs\` from the commands in tools/ops. -->

# Commands

For operators: every command of \`./clinical-launch\`. Each also has \`--json\`, which prints one JSON document, and \`--help\`. The exit code is 0 on
success, 1 if the command failed or found a problem, and 2 if it was called incorrectly. [Operate](../guides/operate.md) explains when to use them.

${sections.join('\n\n')}
`;
}
