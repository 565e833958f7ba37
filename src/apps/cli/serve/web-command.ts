import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { openBrowser } from '../consent/open-browser.ts'
import { packageFolder } from '../package-folder.ts'
import type { Terminal } from '../terminal.ts'
import { requirePeers, SERVER_PEERS } from './required-peers.ts'
import { type StartedServer, serveApps } from './serve-apps.ts'
import { readServeArguments, serveOptions } from './serve-arguments.ts'
import { restartText, startupText } from './startup-text.ts'
import { connectToWatcher } from './watch/watch-link.ts'
import { watchServer } from './watch/watch-server.ts'

/** `toolwright web`. */
export const webCommand: Command = defineCommand({
  name: 'web',
  summary: 'Serve the workbench: chat, approvals, timeline and tools in the browser',
  usage: '<file|folder ...>',
  description: [
    'Serves the workbench for the agents that files export, and prints its address; --open opens it. A file is one app. In a folder, agent.ts is the app; without one, each <app>/agent.ts is an app. The address contains a token: it opens the workbench for you alone. If port 8000 is in use, the next free one is taken.',
    'In a terminal, the server starts again when an agent file, a file that it imports or .env changes. The address stays the same, open pages connect again, and running turns are interrupted and resume.',
    'Sessions and open approvals are stored in .toolwright/<app>.db, so they survive a restart; `toolwright run` and `toolwright serve` use the same file. A run continues when the page is reloaded or closed. Everything that `toolwright serve --dev` serves is available too.',
  ],
  options: {
    ...serveOptions,
    open: { type: 'boolean', description: 'Open the browser, if the command runs in a terminal' },
    watch: { type: 'boolean', description: 'Restart when an agent file changes (default: in a terminal)' },
    'no-watch': { type: 'boolean', description: 'Do not restart when an agent file changes' },
  },
  examples: [
    ['toolwright web agent.ts --open', 'the workbench for one agent'],
    ['toolwright web agents', 'each agents/<app>/agent.ts'],
    ['toolwright web agent.ts --memory', 'forget all sessions at the end, and at each change of a file'],
  ],
  exitCodes: { 0: 'stopped by a signal, after running turns ended', 130: 'stopped by a second signal' },
  run: async (line, terminal) => {
    const given = readServeArguments('web', line)
    const page = findPage()
    const { watch = terminal.output.isTTY === true, 'no-watch': isOff = false } = line.values
    if (watch && !isOff && !terminal.parent) {
      requirePeers('The server', SERVER_PEERS)
      return await watchServer(terminal, given.paths)
    }
    const watcher = terminal.parent && (await connectToWatcher(terminal.parent))
    return await serveApps(terminal, {
      given,
      dev: true,
      onDisconnect: 'detach', // a reload of the page is no wish to stop
      page,
      triesNextPort: true,
      watcher,
      onListening: (started) => {
        if (watcher?.port !== undefined) terminal.output.write(restartText(started))
        else showPage(started, terminal, { opens: line.values.open === true, isWatched: watcher !== undefined })
      },
    })
  },
})

interface ShowOptions {
  readonly opens: boolean
  readonly isWatched: boolean
}

function showPage(started: StartedServer, terminal: Terminal, { opens, isWatched }: ShowOptions): void {
  const { access } = started
  const url = started.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:') // browsers refuse the others
  const withToken = access.type === 'authenticate' ? url : `${url}/?token=${encodeURIComponent(access.token)}`
  // a configured token stays out of logs
  const shown = access.type === 'new-token' ? withToken : url
  const { folder, output } = terminal
  output.write(startupText({ ...started, url: shown }, { title: 'Workbench', folder, isWatched }))
  if (opens && output.isTTY) openBrowser(withToken)
}

/** The folder of the built page. */
function findPage(): string {
  const page = join(packageFolder(), 'dist', 'workbench')
  if (existsSync(join(page, 'index.html'))) return page
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `The page of the workbench is missing in "${page}". Reinstall toolwright; in its repository run: npm run build`,
  )
}
