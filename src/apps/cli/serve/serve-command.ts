import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { readUrl, restateOption } from '../worker/restate-arguments.ts'
import { serveApps } from './serve-apps.ts'
import { readServeArguments, serveOptions } from './serve-arguments.ts'
import { startupText } from './startup-text.ts'

/** `toolwright serve`. */
export const serveCommand: Command = defineCommand({
  name: 'serve',
  summary: 'Serve agents over HTTP, with the API of ADK',
  usage: '<file|folder ...>',
  description: [
    'Serves the agents that files export: REST, server-sent events and live sessions as ADK clients know them, health checks, metrics and /openapi.json. A file is one app. In a folder, agent.ts is the app; without one, each <app>/agent.ts is an app.',
    'Requests need the printed token, or the value of TOOLWRIGHT_TOKEN, as `Authorization: Bearer <token>`, unless the agent file exports `authenticate`. Interrupted runs of an earlier process, or of another one that was killed, are resumed. SIGTERM and Ctrl+C let running turns finish for 10 seconds; longer ones resume after the next start. A second signal stops at once.',
    'With --restate, requests run in the server as before, and workers do everything else: `toolwright worker <file> --restate <url>`. The server then resumes no interrupted runs.',
  ],
  options: {
    ...serveOptions,
    dev: { type: 'boolean', description: 'Also serve the routes for developers below /dev' },
    restate: restateOption,
  },
  examples: [
    ['toolwright serve agent.ts', 'one agent'],
    ['toolwright serve agents --port 3000', 'each agents/<app>/agent.ts'],
    ['TOOLWRIGHT_TOKEN=<secret> toolwright serve agent.ts --host 0.0.0.0', 'for other machines'],
  ],
  exitCodes: { 0: 'stopped by a signal, after running turns ended', 130: 'stopped by a second signal' },
  run: async (line, terminal) =>
    await serveApps(terminal, {
      given: readServeArguments('serve', line),
      dev: line.values.dev,
      restate: line.values.restate === undefined ? undefined : readUrl('restate', line.values.restate),
      triesNextPort: false, // clients expect one address
      onListening: (started) =>
        terminal.output.write(startupText(started, { title: 'Serving', folder: terminal.folder })),
    }),
})
