import type { Terminal } from '../terminal.ts'
import type { Command, CommandDescription, CommandLine, CommandOptions } from './command.ts'
import { parseCommandLine } from './parse-command-line.ts'

/** A command as it is written down. */
interface CommandDefinition<Options extends CommandOptions> extends CommandDescription {
  /** Its options. `--help` is added. */
  readonly options: Options
  /** Commands whose name starts with the name of this one. */
  readonly parts?: readonly Command[]
  /** Runs it and returns the exit code. */
  run(line: CommandLine<Options>, terminal: Terminal): Promise<number>
}

/** Defines a command. Its arguments are parsed by its own options before it runs. */
export function defineCommand<const Options extends CommandOptions>(definition: CommandDefinition<Options>): Command {
  const { options, parts = [] } = definition
  return {
    ...definition,
    parts,
    run: (args, terminal) => definition.run(parseCommandLine(options, args), terminal),
  }
}
