import { type Command, oneOf, type ToolCommand, type Tools } from './command.ts';

const shells = ['bash', 'zsh', 'fish'];

/** A word that can follow other words, with its explanation. */
type Word = { readonly word: string; readonly summary: string };

/** Creates `./clinical-launch completion` for the tools of the operator. */
export const completionOf = (tools: Tools): ToolCommand => ({
  details:
    'In bash: eval "$(clinical-launch completion bash)". In fish: clinical-launch completion fish | source',
  example: 'bash',
  arguments: [
    {
      name: 'shell',
      summary: `One of ${shells.join(', ')}`,
      faultOf: oneOf(shells),
    },
  ],
  async run({ arguments: [shell] }) {
    const words = await wordsAfter(tools);
    const text = shell === 'fish' ? fishScript(words) : bashScript(words);
    // bashcompinit gives zsh the functions of bash.
    const script = shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${text}` : text;
    return { lines: [script], result: { shell, script } };
  },
});

/** Returns the words that can follow each command, by its names: `registry list`. */
async function wordsAfter(tools: Tools): Promise<ReadonlyMap<string, readonly Word[]>> {
  const words = new Map<string, readonly Word[]>([['', wordsOf(tools)]]);
  for (const [name, { load }] of Object.entries(tools)) {
    const tool = await load();
    words.set(name, 'run' in tool ? optionsOf(tool) : wordsOf(tool.commands));
    for (const [word, command] of 'run' in tool ? [] : Object.entries(tool.commands))
      words.set(`${name} ${word}`, optionsOf(command));
  }
  return words;
}

const wordsOf = (named: Readonly<Record<string, { readonly summary: string }>>): Word[] =>
  Object.entries(named).map(([word, { summary }]) => ({ word, summary }));

const optionsOf = ({ options = [] }: Pick<Command, 'options'>): Word[] =>
  [...options, { name: 'json', summary: 'Prints JSON' }].map(({ name, summary }) => ({
    word: `--${name}`,
    summary,
  }));

const listed = (words: readonly Word[]) => words.map(({ word }) => word).join(' ');

/** Returns a function of bash, which completes words after the longest known command, and otherwise files. */
function bashScript(words: ReadonlyMap<string, readonly Word[]>): string {
  const cases = [...words].map(
    ([names, next]) => `  ' ${names}'${names && "' '*"}) words='${listed(next)}' ;;`,
  );
  return `_clinical_launch() {
  local word known='' words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) known="$known $word" ;; esac
  done
  case "\${known:- }\${known:+ }" in
${cases.toReversed().join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _clinical_launch clinical-launch`;
}

/** Returns commands of fish. The words of a group are offered until one of them was typed. */
const fishScript = (words: ReadonlyMap<string, readonly Word[]>): string =>
  [...words]
    .flatMap(([names, next]) => {
      const seen = names
        .split(' ')
        .filter(Boolean)
        .map((name) => `__fish_seen_subcommand_from ${name}`);
      const commands = next.filter(({ word }) => !word.startsWith('-'));
      if (commands.length > 0) seen.push(`not __fish_seen_subcommand_from ${listed(commands)}`);
      return next.map(
        ({ word, summary }) =>
          `complete -c clinical-launch -f -n '${seen.join('; and ')}' -a ${word} -d '${summary.replace(/[\\']/g, '\\$&')}'`,
      );
    })
    .join('\n');
