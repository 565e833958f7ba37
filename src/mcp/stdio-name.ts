/** Options of Node, Docker and uv whose value is the next argument. */
const WITH_VALUE: ReadonlySet<string> = new Set(
  '--import --require -r --loader --env-file -e --env -v --volume --mount --name --network -p --publish --directory'.split(
    ' ',
  ),
)

/** Commands of Docker, uv, Bun, Deno and pnpm that start a program. */
const STARTS = /^(?:run|exec|dlx)$/

/** File names and folders that do not tell servers apart. */
const COMMON = /^(?:index|main|server|dist|build|src|bin)?(?:\.\w+)?$/

/** The default name of a server that a command starts: `npx -y @scope/server-files /tmp` is the server-files server. */
export function stdioName(command: string, args: readonly string[]): string {
  const words = args.filter((arg, at) => {
    const isValue = at > 0 && WITH_VALUE.has(args[at - 1] ?? '')
    return !isValue && !arg.startsWith('-') && /[a-z]/i.test(arg)
  })
  const program = (STARTS.test(words[0] ?? '') ? words[1] : words[0]) ?? command
  return program.split(/[\\/]/).findLast((part) => !COMMON.test(part)) ?? command.split(/[\\/]/).at(-1) ?? command
}
