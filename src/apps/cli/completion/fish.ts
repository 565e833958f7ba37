import { type CompletedCommand, quote } from './completed-command.ts'

/** The completion script for fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, choices }) => {
    const words = name.split(' ')
    const inside = quote(words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and '))
    return [
      ...(words.length === 1
        ? [`complete -c toolwright -n __fish_use_subcommand -f -a ${quote(name)} -d ${quoteForFish(summary)}`]
        : []),
      ...(choices.length ? [`complete -c toolwright -n ${inside} -a ${quote(choices.join(' '))}`] : []),
      ...options.map(
        (option) =>
          `complete -c toolwright -n ${inside} -l ${option.name.slice(2)}${option.hasValue ? ' -r' : ''} -d ${quoteForFish(option.description)}`,
      ),
    ]
  })
  return `# Completion of toolwright for fish. Load it with: npx toolwright completion fish | source
${lines.join('\n')}

# After npx: what is offered for the same line without npx.
function __toolwright_after_npx
  set -l words (commandline -opc)
  string match -qr '^toolwright(@.*)?$' -- "$words[2]"
end
function __toolwright_npx
  set -l words (commandline -opc)
  set -e words[1..2]
  complete -C (string join ' ' -- toolwright (string escape -- $words) (commandline -ct))
end
complete -c npx -n __toolwright_after_npx -f -a '(__toolwright_npx)'
`
}

/** Fish knows \\' inside single quotes. */
function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
