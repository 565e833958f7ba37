import { spawn } from 'node:child_process'

/** The command that opens a URL, without the URL. */
type BrowserCommand = readonly [program: string, ...args: string[]]

const COMMANDS: ReadonlyMap<string, BrowserCommand> = new Map<string, BrowserCommand>([
  ['darwin', ['open']],
  ['win32', ['rundll32', 'url.dll,FileProtocolHandler']], // `start` needs a shell, which would interpret "&"
])

/** The command of this platform. */
export function browserCommand(platform: string = process.platform): BrowserCommand {
  return COMMANDS.get(platform) ?? ['xdg-open']
}

/** Opens a page in the browser of the user, without a shell. A missing browser is ignored: the link is also printed. */
export function openBrowser(url: string, [program, ...args]: BrowserCommand = browserCommand()): void {
  try {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
  } catch {
    // an environment in which no process can start
  }
}
