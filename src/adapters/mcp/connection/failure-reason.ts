import { messageOf } from '../../../core/error/error.ts'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'

/** Causes that are read: an error may be its own cause. */
const MAX_CAUSES = 5

/** Why a server cannot be used, and what the developer can change. */
export function failureReason(error: unknown, connection: McpToolsetOptions['connection']): string {
  const message = messageOf(error).replace(/[\s:]+$/, '')
  const { code, status } = detailsOf(error)
  if (connection.type === 'stdio') {
    if (code !== 'ENOENT') return withoutStack(message)
    const folder = connection.cwd === undefined ? '' : ', and that the folder connection.cwd exists'
    return `${message}. Check that connection.command is one program in PATH${folder}. Arguments go into connection.args`
  }
  if (status !== undefined) {
    const advice = status >= 400 && status < 500 ? '. Check connection.url and connection.type' : ''
    return `${message} (status ${status})${advice}`
  }
  if (code !== undefined) return `${message} (${code}). Check connection.url, and that the server is running`
  return message
}

/** The reason of a local server in one sentence. Of what the process wrote last, only the line with the error is of use here. */
function withoutStack(message: string): string {
  const [reason = '', ...written] = message.split(/\r?\n/)
  if (!/It (?:exited with code \w+|was ended by \w+)\.?$/.test(reason)) return message
  const lines = written.map((line) => line.trim()).filter((line) => line !== '' && !IS_NOISE.test(line))
  const error = lines.findLast((line) => IS_ERROR.test(line)) ?? lines.at(-1)
  const said = error === undefined ? '' : ` ${error.replace(/\.$/, '')}.`
  return `${reason.replace(/\.?$/, '.')}${said} Run connection.command with connection.args in a shell to see all that it prints`
}

/** Lines of stacks, of quoted code and of runtimes: they name no cause. */
const IS_NOISE = /^(?:at |File "|Traceback |Node\.js v|goroutine |note: |[\^~\s}\]]+$)/
/** How Node, Python, Java, Rust and most programs write the error that ended them. */
const IS_ERROR = /^(?:[\w.$]*(?:Error|Exception)\b|error\b|fatal\b|panic\b|thread '.*' panicked)/i

/** The first system code and the first HTTP status in a chain of causes. */
function detailsOf(error: unknown): { readonly code: string | undefined; readonly status: number | undefined } {
  let code: string | undefined
  let status: number | undefined
  let current = error
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth++) {
    const found = current as { readonly code?: unknown; readonly status?: unknown; readonly cause?: unknown }
    if (typeof found.code === 'string' && /^E[A-Z]{3,}$/.test(found.code)) code ??= found.code
    if (Number.isInteger(found.status)) status ??= Number(found.status)
    current = found.cause
  }
  return { code, status }
}
