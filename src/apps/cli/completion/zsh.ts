import { type CompletedCommand, quote } from './completed-command.ts'

/** The completion script for zsh. It also works as the file `_toolwright` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const top = commands.filter(({ name }) => !name.includes(' '))
  return `#compdef toolwright
# Completion of toolwright for zsh. Load it with: source <(npx toolwright completion zsh)
_toolwright() {
  local -a commands
  if ((CURRENT == 2)); then
    commands=(${top.map(({ name, summary }) => quote(`${name}:${summary.replaceAll(':', '\\:')}`)).join(' ')})
    _describe command commands
    return
  fi
  case "$words[2] $words[3]" in
${[...commands].reverse().map(branch).join('\n')}
  esac
}
compdef _toolwright toolwright

# After npx and its options. Other programs keep the completion that npx had.
_toolwright_npx() {
  local at=2
  while ((at < CURRENT)) && [[ $words[at] == -* ]]; do ((at++)); done
  if ((at < CURRENT)) && [[ $words[at] == toolwright || $words[at] == toolwright@* ]]; then
    shift $((at - 1)) words
    ((CURRENT -= at - 1))
    _toolwright
  else
    $_toolwright_other_npx "$@"
  fi
}
[[ $_comps[npx] == _toolwright_npx ]] || typeset -g _toolwright_other_npx=\${_comps[npx]:-_default}
compdef _toolwright_npx npx
`
}

/** Parts come first, because their commands are listed before them. */
function branch({ name, options, choices }: CompletedCommand): string {
  const pattern = name.includes(' ') ? quote(name) : `${quote(`${name} `)}*`
  const specs = options.map(({ name: option, hasValue, description }) =>
    quote(`*${option}[${description.replace(/[[\]]/g, '')}]${hasValue ? ':value:_files' : ''}`),
  )
  const first = choices.length ? [quote(`2:choice:(${choices.join(' ')})`)] : []
  return `    ${pattern}) _arguments ${[...specs, ...first, quote('*:file:_files')].join(' ')} ;;`
}
