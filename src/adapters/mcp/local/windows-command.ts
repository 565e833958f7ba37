// How a program is started on Windows. `npx` and the like are batch files there, which only `cmd` can run.

/** A command that can be started without a shell. */
export interface StartedCommand {
  /** The program. */
  readonly command: string
  /** Its arguments. */
  readonly args: readonly string[]
  /** Is the list of arguments a command line that must be passed on as it is? */
  readonly isVerbatim: boolean
}

/** What decides how a program is started. */
interface WindowsSystem {
  /** The environment of the server. Names are compared without case. */
  readonly env: { readonly [name: string]: string | undefined }
  /** The working directory of the server. */
  readonly cwd: string
  /** Does the file exist? */
  exists(path: string): boolean
}

/** A batch file is started by `cmd`; any other program by itself. Throws if an argument cannot be passed to a batch file. */
export function windowsCommand(command: string, args: readonly string[], system: WindowsSystem): StartedCommand {
  const program = findProgram(command, system)
  if (!/\.(?:cmd|bat)$/i.test(program)) return { command, args, isVerbatim: false }
  const line = [program, ...args].map(quote).join(' ')
  const shell = variable(system, 'ComSpec') ?? 'cmd.exe'
  // without scripts of the registry (/d) and expansion of `!` (/v:off); outer quotes, because /s removes one pair
  return { command: shell, args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`], isVerbatim: true }
}

/** The file that Windows finds for a command. The command itself if there is none. */
function findProgram(command: string, system: WindowsSystem): string {
  if (/\.(?:exe|com|cmd|bat)$/i.test(command) && /[\\/]/.test(command)) return command
  const folders = /[\\/]/.test(command) ? [''] : [system.cwd, ...(variable(system, 'PATH') ?? '').split(';')]
  const endings = (variable(system, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean)
  const names = /\.\w+$/.test(command) ? ['', ...endings] : endings
  for (const folder of folders)
    for (const ending of names) {
      const path = `${folder && `${folder.replace(/[\\/]+$/, '')}\\`}${command}${ending}`
      if (system.exists(path)) return path
    }
  return command
}

function variable({ env }: WindowsSystem, name: string): string | undefined {
  const found = Object.keys(env).find((one) => one.toLowerCase() === name.toLowerCase())
  return found === undefined ? undefined : env[found]
}

/**
 * A word in quotes, which `cmd` and the program both read as this word. A quote is doubled, so that it never ends the quoted
 * part for `cmd`. `%` is followed by an empty expansion, so that it starts none.
 */
function quote(word: string): string {
  if (/[\r\n\0]/.test(word))
    throw new Error('An argument of a batch file cannot contain a line break. Start the program itself instead.')
  const escaped = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/\\+$/, '$&$&')
    .replaceAll('%', '%%cd:~,%')
  return `"${escaped}"`
}
