import type { Command, ToolCommand } from './command.ts';

const shells = ['bash', 'zsh', 'fish'];
const program = 'clinical-launch';

/** A word that can follow other words, with its explanation. */
type Word = { readonly word: string; readonly summary: string };

/** `./clinical-launch completion` */
export const completion: ToolCommand = {
  details:
    'In bash: eval "$(clinical-launch completion bash)". In fish: clinical-launch completion fish | source',
  example: 'bash',
  arguments: [
    {
      name: 'shell',
      summary: `One of ${shells.join(', ')}`,
      faultOf: (value) => (shells.includes(value) ? undefined : `must be one of ${shells.join(', ')}`),
    },
  ],
  async run({ arguments: [shell] }) {
    const words = await wordsAfter();
    const text = shell === 'fish' ? fishScript(words) : bashScript(words);
    // bashcompinit gives zsh the functions of bash.
    const script = shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${text}` : text;
    return { lines: [script], result: { shell, script } };
  },
};

/** Returns the words that can follow each command, by its names: `registry list`. */
async function wordsAfter(): Promise<ReadonlyMap<string, readonly Word[]>> {
  // This module is one of the tools.
  const { tools } = await import('./tools.ts');
  const words = new Map<string, readonly Word[]>([
    ['', Object.entries(tools).map(([word, { summary }]) => ({ word, summary }))],
  ]);
  for (const [name, { load }] of Object.entries(tools)) {
    const tool = await load();
    const commands = 'run' in tool ? {} : tool.commands;
    const own = 'run' in tool ? optionsOf(tool) : [];
    words.set(name, [...own, ...Object.entries(commands).map(([word, { summary }]) => ({ word, summary }))]);
    for (const [word, command] of Object.entries(commands)) words.set(`${name} ${word}`, optionsOf(command));
  }
  return words;
}

const optionsOf = ({ options = [] }: Pick<Command, 'options'>): Word[] =>
  [...options, { name: 'json', summary: 'Prints JSON' }].map(({ name, summary }) => ({
    word: `--${name}`,
    summary,
  }));

const listed = (words: readonly Word[]) => words.map(({ word }) => word).join(' ');

/** Returns a function of bash, which completes words after the longest known command, and else files. */
function bashScript(words: ReadonlyMap<string, readonly Word[]>): string {
  const cases = [...words].map(([names, next]) => `    '${names}') words='${listed(next)}' ;;`);
  return `_clinical_launch() {
  local word known='' words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) known="\${known:+$known }$word" ;; esac
  done
  while :; do
    case "$known" in
${cases.join('\n')}
    esac
    [ -n "$words" ] || [ -z "$known" ] && break
    case "$known" in *' '*) known="\${known% *}" ;; *) known='' ;; esac
    [ -n "$known" ] || break
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _clinical_launch ${program}`;
}

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

function fishScript(words: ReadonlyMap<string, readonly Word[]>): string {
  return [...words]
    .flatMap(([names, next]) => {
      const [name, word] = names.split(' ');
      const seen = [name, word].filter(Boolean).map((one) => `__fish_seen_subcommand_from ${one}`);
      // The words of a group are offered until one of them was typed.
      const commands = listed(next.filter((one) => !one.word.startsWith('-')));
      const unseen =
        word === undefined && commands !== '' ? [`not __fish_seen_subcommand_from ${commands}`] : [];
      const condition = [...seen, ...unseen].join('; and ');
      return next.map(
        (one) => `complete -c ${program} -f -n ${quoted(condition)} -a ${one.word} -d ${quoted(one.summary)}`,
      );
    })
    .join('\n');
}
