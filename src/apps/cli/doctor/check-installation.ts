// Checks that need no agent file: Node, the package, its optional packages, and a port.
import { realpathSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../../../core/error/error.ts'
import { findCompiler, INSTALL_COMPILER } from '../../infer/compiler/find-compiler.ts'
import { missingPeers, SERVER_PEERS } from '../serve/required-peers.ts'
import { type Finding, findingsOf } from './finding.ts'

/** The version of Node. */
export function checkNode(version: string = process.versions.node): Finding {
  const { ok, warning } = findingsOf('node')
  if (Number(version.split('.')[0]) >= 24) return ok(`Node ${version}`)
  return warning(
    `Node ${version}: "await using" in an agent file is a syntax error, and SQLite prints a warning.`,
    'Use Node 24 or newer, or avoid "await using" in TypeScript that is not compiled.',
  )
}

/** The copy of this package that agent files in a folder import. Agents of another copy are refused. */
export function checkPackage(folder: string): Finding {
  const { ok, warning, problem } = findingsOf('package')
  const require = createRequire(import.meta.url)
  const own = realpathSync(require.resolve('toolwright/package.json'))
  const { version } = require(own) as { version: string }
  const used = findPackage(folder)
  if (used === own) return ok(`toolwright ${version}`)
  if (used === undefined)
    return warning(`Files in "${folder}" cannot import toolwright.`, 'Run in that folder: npm i toolwright')
  return problem(
    `Files in "${folder}" import another copy of toolwright, in "${dirname(used)}".`,
    'Run the command of that copy: npx toolwright',
  )
}

function findPackage(folder: string): string | undefined {
  try {
    const found = findPackageJSON('toolwright', pathToFileURL(resolve(folder, 'agent.ts')))
    return found === undefined ? undefined : realpathSync(found)
  } catch {
    return undefined
  }
}

/** The optional packages of the server. */
export function checkServerPeers(): Finding {
  const { ok, warning } = findingsOf('server')
  const missing = missingPeers(SERVER_PEERS)
  if (missing.length === 0) return ok(`The packages of the server are installed: ${SERVER_PEERS.join(', ')}`)
  return warning(`toolwright web and serve need ${missing.join(', ')}.`, `Run: npm i ${missing.join(' ')}`)
}

/** The compiler that reads the types of plain functions. An agent file that needs it says so itself when it is loaded. */
export function checkCompiler(folder: string, { hasFiles }: { readonly hasFiles: boolean }): Finding[] {
  const { ok } = findingsOf('compiler')
  if (findCompiler(folder)) return [ok('Plain functions can be tools: a TypeScript compiler is installed')]
  if (hasFiles) return []
  return [ok(`No TypeScript 5 or 6 for plain functions as tools. To use them: ${INSTALL_COMPILER}`)]
}

/** The token of a server for other machines. */
export function checkToken(token: string | undefined): Finding[] {
  const { ok, warning } = findingsOf('token')
  if (!token) return []
  if (token.length >= 16) return [ok('TOOLWRIGHT_TOKEN is set')]
  return [warning('TOOLWRIGHT_TOKEN has fewer than 16 characters.', 'Use a random text: openssl rand -base64 24')]
}

/** Whether a port of this machine is free. Without `--port`, `toolwright web` tries the ports after the default one, too. */
export async function checkPort(port: number, { isDefault }: { readonly isDefault: boolean }): Promise<Finding> {
  const { ok, warning } = findingsOf('port')
  const server = createServer()
  try {
    await new Promise<void>((listening, failed) => {
      server.once('error', failed)
      server.listen(port, '127.0.0.1', listening)
    })
    return ok(`Port ${port} is free`)
  } catch (error) {
    return warning(
      `Port ${port} cannot be used: ${messageOf(error)}.`,
      isDefault
        ? 'toolwright web takes the next free port; pass --port to toolwright serve.'
        : 'Stop the program that uses it, or pass another --port to toolwright web and serve.',
    )
  } finally {
    server.close()
  }
}
