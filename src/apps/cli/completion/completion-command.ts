import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { UsageError } from '../terminal.ts'
import { bashCompletion } from './bash.ts'
import { completedCommands } from './completed-command.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const shells = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
])

/** `toolwright completion`, for these commands and itself. */
export function completionCommand(commands: readonly Command[]): Command {
  const names = [...shells.keys()]
  const command = defineCommand({
    name: 'completion',
    summary: 'Print a script that completes commands and options in a shell',
    usage: `<${names.join('|')}>`,
    description: [
      'Prints a completion script for a shell. It completes commands, options, their choices and file names, after `toolwright` and after `npx toolwright`.',
    ],
    options: {},
    choices: names,
    examples: [
      ['source <(npx toolwright completion bash)', 'in ~/.bashrc, or once in a bash'],
      ['source <(npx toolwright completion zsh)', 'in ~/.zshrc, after compinit'],
      ['npx toolwright completion fish | source', 'in ~/.config/fish/config.fish'],
    ],
    run: async ({ positionals: [shell = '', ...others] }, { output }) => {
      const write = shells.get(shell)
      const problem = shell === '' || others.length ? 'Pass a shell.' : `There is no script for the shell "${shell}".`
      if (!write || others.length) throw new UsageError(`${problem} Usage: toolwright completion ${command.usage}`)
      output.write(write(completedCommands([...commands, command])))
      return 0
    },
  })
  return command
}
