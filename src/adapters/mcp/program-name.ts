/** Commands that start the program which one of their arguments names. */
const LAUNCHERS =
  /^(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|node|tsx|uv|uvx|pipx|python[\d.]*|docker|podman)(?:\.(?:exe|cmd|bat))?$/i

const CONTAINERS = /^(?:docker|podman)/i

/** Words of launchers that come before the program. */
const STARTS = /^(?:run|exec|dlx)$/

/** Options of launchers whose value is the next argument. */
const WITH_VALUE = words(
  '--import --require -r --loader --env-file -e --env -v --volume --mount --name --network --publish --directory',
)

/** Options of launchers without a value. */
const FLAGS = words('-y --yes -q --quiet -i -t -it --rm --no-warnings --no-install --from --package -m --')

/** Parts of a path that say nothing about a server. */
const UNTELLING = /^(?:index|main|server|dist|build|src|bin)?(?:\.\w+)?$/

/**
 * The name of the program that a command starts: `npx -y @scope/files /tmp` starts files. It is logged and shown, so it is never taken
 * from the arguments of the program, which may hold a key.
 */
export function programName(command: string, args: readonly string[]): string {
  const ownName = command.split(/[\\/]/).at(-1) ?? command
  const launched = LAUNCHERS.test(ownName) ? launchedProgram(ownName, args) : undefined
  const isTelling = (part: string): boolean => !UNTELLING.test(part)
  return (launched ?? command).split(/[\\/]/).findLast(isTelling) ?? ownName
}

/** The first argument of a launcher that is no option and no word of its own. Undefined if it may be the value of an option. */
function launchedProgram(launcher: string, args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string
    if (STARTS.test(arg)) continue
    if (!arg.startsWith('-')) return /[a-z]/i.test(arg) ? arg : undefined
    if (WITH_VALUE.has(arg) || (arg === '-p' && CONTAINERS.test(launcher))) at++
    else if (!FLAGS.has(arg) && arg !== '-p' && !arg.includes('=')) return undefined
  }
  return undefined
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
