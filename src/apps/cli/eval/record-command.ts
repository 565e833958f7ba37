import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { saveCase } from '../../../adapters/eval/cases/write-eval-set.ts'
import { recordCase } from '../../../adapters/eval/recording/record-case.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import type { SessionService } from '../../../services/session/service.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { userStoreOptions } from '../command/store-options.ts'
import { loadAgentFile } from '../load/agent-file.ts'
import { defaultDatabase } from '../load/app-database.ts'
import { appNameOf } from '../load/create-runner.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { openStore } from '../load/open-store.ts'
import { withProgress } from '../screen/progress.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { closeTargets, modelsOfAll } from './load-eval-files.ts'

const options = {
  agent: { type: 'string', value: '<file>', description: 'The agent of the session (default: agent.ts)' },
  ...userStoreOptions,
  out: { type: 'string', value: '<file>', description: 'The file that gets the case (default: <app>.evalset.json)' },
  id: { type: 'string', value: '<id>', description: 'The id of the case (default: the id of the session)' },
  replace: { type: 'boolean', description: 'Replace a case with the same id' },
} as const satisfies CommandOptions

/** `toolwright eval record`. */
export const recordCommand: Command = defineCommand({
  name: 'eval record',
  summary: 'Make a case of a session',
  usage: '<session>',
  description: [
    'Makes a case of the log of a session: its messages, its calls, the answers to its requests, and a recording for --replay and --recorded-tools. The session is replayed once, without a model and without tools.',
  ],
  options,
  examples: [
    ['toolwright eval record s1 --agent agent.ts', 'adds the case to agent.evalset.json'],
    ['toolwright eval record s1 --agent agent.ts --out evals/desk.evalset.json --id refund', 'with a name'],
  ],
  exitCodes: { 1: 'failure, such as a session that cannot be replayed' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const [sessionId, ...others] = positionals
  if (!sessionId || others.length > 0) throw new UsageError('Pass one session. Usage: toolwright eval record <session>')
  const { agent: file = 'agent.ts', user: userId = 'user', id = sessionId, replace = false } = values
  loadEnvFile(terminal.folder, terminal.env)
  const { root } = await loadAgentFile(file)
  const appName = values.app ?? (root instanceof Runner ? root.appName : appNameOf(file))
  const out = values.out ?? `${appName}.evalset.json`
  const text = existsSync(out) ? readFileSync(out, 'utf8') : undefined
  const db = values.db ?? (root instanceof Runner ? undefined : defaultDatabase(terminal.folder, appName))
  if (db !== undefined && !existsSync(db))
    throw new UsageError(`"${db}" does not exist. Pass the store of the session with --db.`)
  const stored = await openStore({ db }, terminalLogger(terminal))
  try {
    const key = { appName, userId, sessionId }
    const sessionService = stored?.sessionService ?? (root instanceof Runner ? root.sessionService : undefined)
    const session = await readSession(sessionService, key)
    const models = await modelsOfAll([root])
    const made = await withProgress(terminal, `Replaying ${sessionId}`, () =>
      recordCase(session, { target: root, id, models }),
    )
    const saved = saveCase(made, { text, name: out, setId: basename(out).replace(/(\.evalset)?\.json$/, ''), replace })
    mkdirSync(dirname(out), { recursive: true })
    writeFileSync(out, saved)
    terminal.output.write(`Case "${id}" is in ${out}. Run it: npx toolwright eval ${out} --agent ${file} --replay\n`)
    return 0
  } finally {
    await closeTargets([root])
    stored?.close()
  }
}

async function readSession(
  sessionService: SessionService | undefined,
  key: { readonly appName: string; readonly userId: string; readonly sessionId: string },
): Promise<Parameters<typeof recordCase>[0]> {
  const session = await sessionService?.getSession({ ...key, config: { numRecentEvents: 1 } })
  const page = await sessionService?.readLog?.(key)
  if (!session || !page)
    throw new UsageError(
      `App "${key.appName}" has no session "${key.sessionId}" of user "${key.userId}". Pass --user, --app or --db.`,
    )
  return { key, entries: page.entries, state: { ...session.state } }
}
