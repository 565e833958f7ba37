// `toolwright web --watch` on files that tests change.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { type StartedCommand, startCommandLine, type TerminalSetup } from '../../src/apps/cli/terminal.test-kit.ts'

/** The files of an agent with one tool, whose name is in a file of its own. */
export const FILES = {
  'package.json': '{ "type": "module" }',
  'agent.ts': `import { LlmAgent, textOf, tool } from 'toolwright'
import { NAME } from './name.ts'

const named = tool({ name: NAME, description: 'Has a name', run: () => 'done' })
const model = {
  name: 'echo',
  async *generate({ contents }) {
    yield { content: { role: 'model', parts: [{ text: 'You said ' + textOf(contents.at(-1)) + '.' }] } }
  },
}
export default new LlmAgent({ name: 'desk', description: process.env.DESK ?? 'no desk', model, tools: [named] })
`,
  'name.ts': "export const NAME = 'first_tool'\n",
}

/** A folder whose files can import `toolwright`. */
export interface WatchedFolder {
  /** The path. */
  readonly path: string
  /** Writes a file. */
  write(name: string, text: string): void
  /** Is there such a file? */
  has(name: string): boolean
  /** Removes a file. */
  remove(name: string): void
}

/** Creates a folder with files. It is removed after the test. */
export function createFolder(files: { readonly [name: string]: string } = FILES): WatchedFolder {
  const path = mkdtempSync(join(tmpdir(), 'toolwright-web-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  const write = (name: string, text: string): void => writeFileSync(join(path, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(resolve('.'), join(path, 'node_modules', 'toolwright'))
  return { path, write, has: (name) => existsSync(join(path, name)), remove: (name) => rmSync(join(path, name)) }
}

/** A started `toolwright web --watch`. */
export interface WatchedWeb extends StartedCommand {
  /** The address. */
  readonly url: string
  /** What `openPage` needs. */
  readonly server: { readonly token: string }
  /** Sends a request with the token. */
  get(path: string): Promise<Response>
  /** Waits until the text was printed once more than before. */
  untilNext(text: string): Promise<void>
}

/** Starts `toolwright web agent.ts --watch` on a free port. */
export async function startWatch(folder: WatchedFolder, setup: TerminalSetup = {}): Promise<WatchedWeb> {
  const args = ['web', join(folder.path, 'agent.ts'), '--watch', '--port', '0']
  const started = startCommandLine(args, { ...setup, folder: folder.path })
  onTestFinished(async () => {
    started.signals.emit('SIGTERM')
    await started.ended
  })
  const text = await started.until('Stop        Ctrl+C\n')
  const [, url = '', token = ''] = /^Workbench +(\S+)\/\?token=(\S+)$/m.exec(text) ?? []
  const get = (path: string): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { ...started, url, server: { token }, get, untilNext: counter(started) }
}

function counter(started: StartedCommand): WatchedWeb['untilNext'] {
  const seen = new Map<string, number>()
  return async (text) => {
    const count = (seen.get(text) ?? 0) + 1
    seen.set(text, count)
    await started.until((printed) => printed.split(text).length > count)
  }
}
