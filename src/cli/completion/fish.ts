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
  return `# Completion of toolwright for fish. Load it with: npx toolwright completion fish | source\n${lines.join('\n')}\n`
}

/** Fish knows \\' inside single quotes. */
function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
