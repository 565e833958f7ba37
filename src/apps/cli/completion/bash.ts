import { type CompletedCommand, quote } from './completed-command.ts'

/** The completion script for bash. It needs no other package. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const top = commands.filter(({ name }) => !name.includes(' ')).map(({ name }) => name)
  return `# Completion of toolwright for bash. Load it with: source <(npx toolwright completion bash)
_toolwright() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} options= values= choices=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quote([...top, '--help', '--version'].join(' '))} -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${specificFirst(commands).map(branch).join('\n')}
  esac
  if [[ $word == -* && " $values " != *" $previous "* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  if [[ -n $choices ]] && ((COMP_CWORD == 2)); then
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
  fi
  local IFS=$'\\n' # a file name may contain spaces
  COMPREPLY+=($(compgen -f -- "$word"))
}
complete -o filenames -F _toolwright toolwright

# After npx and its options. Other programs keep the completion that npx had.
_toolwright_npx() {
  local at=1
  while ((at < COMP_CWORD)) && [[ \${COMP_WORDS[at]} == -* ]]; do ((at++)); done
  if ((at < COMP_CWORD)) && [[ \${COMP_WORDS[at]} == toolwright || \${COMP_WORDS[at]} == toolwright@* ]]; then
    COMP_WORDS=("\${COMP_WORDS[@]:at}")
    ((COMP_CWORD -= at))
    _toolwright
  elif [[ -n $_toolwright_other_npx ]]; then
    "$_toolwright_other_npx" "$@"
  fi
}
if [[ $(complete -p npx 2>/dev/null) =~ -F[[:space:]]([^[:space:]]+) && \${BASH_REMATCH[1]} != _toolwright_npx ]]; then
  _toolwright_other_npx=\${BASH_REMATCH[1]}
fi
complete -o bashdefault -o default -o filenames -F _toolwright_npx npx
`
}

function branch({ name, options, choices }: CompletedCommand): string {
  const names = options.map((option) => option.name).join(' ')
  const values = options.flatMap((option) => (option.hasValue ? option.name : [])).join(' ')
  const pattern = name.includes(' ') ? quote(name) : `${quote(`${name} `)}*`
  return `    ${pattern}) options=${quote(names)} values=${quote(values)} choices=${quote(choices.join(' '))} ;;`
}

/** `mcp trust` before `mcp`, because the first branch that matches counts. */
function specificFirst(commands: readonly CompletedCommand[]): CompletedCommand[] {
  return commands.toSorted((a, b) => b.name.split(' ').length - a.name.split(' ').length)
}
