// The checks of one agent file: does it load, and can its models, its store and its toolsets be used?
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../../core/error/error.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { PinService } from '../../../services/session/service.ts'
import { type AgentFile, loadAgentFile } from '../load/agent-file.ts'
import { defaultDatabase } from '../load/app-database.ts'
import { appNameOf } from '../load/create-runner.ts'
import type { Terminal } from '../terminal.ts'
import { checkDatabase, checkStoreOf, hasCurrentSchema } from './check-database.ts'
import { checkPackage } from './check-installation.ts'
import { checkModels } from './check-models.ts'
import { checkToolsets } from './check-toolsets.ts'
import { type Finding, findingsOf } from './finding.ts'

/** An app to check. */
interface CheckedApp {
  /** The agent file. */
  readonly file: string
  /** The name of the app; undefined means the name of the file. */
  readonly app: string | undefined
  /** The SQLite file; undefined means the default one of `web` and `serve`. */
  readonly db: string | undefined
}

/** Checks an agent file and everything it needs. */
export async function checkApp(
  { file, app, db }: CheckedApp,
  { env, folder }: Pick<Terminal, 'env' | 'folder'>,
): Promise<Finding[]> {
  const { ok, problem } = findingsOf('agent')
  const copy = checkPackage(dirname(file))
  let exports: AgentFile
  try {
    exports = await loadAgentFile(file)
  } catch (error) {
    const message = messageOf(error)
    // the error of a missing or second copy has the advice of that check
    const isSaid = /package ["']toolwright["']/.test(message)
    return [...(copy.status === 'ok' || !isSaid ? [copy] : []), problem(message)]
  }
  const { root } = exports
  const agent = root instanceof Runner ? root.agent : root
  const loaded = [copy, ok(`"${file}" exports ${root instanceof Runner ? 'a runner for ' : ''}agent "${agent.name}"`)]
  if (root instanceof Runner) {
    const { appName, sessionService } = root
    const servers = await checkToolsets(agent, { appName, pins: sessionService.pins, trustArguments: [file] })
    return [...loaded, ...checkModels(agent, env), ...(await checkStoreOf(root)), ...servers]
  }
  const appName = app ?? appNameOf(file)
  const path = db ?? defaultDatabase(folder, appName)
  const stored = db !== undefined || existsSync(path) ? checkDatabase(path) : []
  const store = hasCurrentSchema(path)
    ? await openPins(path)
    : { pins: new InMemorySessionService().pins, close: () => {} }
  try {
    const named = [...(app === undefined ? [] : ['--app', app]), ...(db === undefined ? [] : ['--db', db])]
    const servers = await checkToolsets(agent, { appName, pins: store.pins, trustArguments: [file, ...named] })
    return [...loaded, ...checkModels(agent, env), ...stored, ...servers]
  } finally {
    store.close()
  }
}

/** Opens the pins of a database whose tables need no change. */
async function openPins(path: string): Promise<{ pins: PinService; close(): void }> {
  const { sqlite } = await import('../../sqlite/sqlite.ts')
  const services = sqlite(path)
  return { pins: services.sessionService.pins, close: () => services.close() }
}
