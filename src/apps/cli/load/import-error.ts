import { isRecord } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'

/** Describes why Node could not import a file: Node's message, the line, and what to do. */
export function describeImportError(file: string, path: string, error: unknown): string {
  const code = isRecord(error) ? error.code : undefined
  const message = messageOf(error)
  if (!(error instanceof SyntaxError)) {
    return `Cannot load "${file}": ${message}${lineOf(error, path)}${importAdvice(code, message)}`
  }
  const advice =
    code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
      ? '\nNode only strips TypeScript types, so enums, namespaces and parameter properties are not supported. Use plain JavaScript (an object instead of an enum), or compile the file first. "erasableSyntaxOnly" in tsconfig.json finds such code.'
      : message.includes('does not provide an export named')
        ? '\nIf the name is a type, import it with `import type`.'
        : /Cannot use import statement|Unexpected token 'export'|await is only valid/.test(message)
          ? '\nNode loads the file as CommonJS, because the nearest package.json has "type": "commonjs" (npm init writes it). Rename the file to end in .mts, or set "type": "module".'
          : ''
  return `Cannot load "${file}": ${message}\n${excerptOf(error)}${advice}`
}

function importAdvice(code: unknown, message: string): string {
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return '\nNode does not run TypeScript inside node_modules. Copy the file into your own folder and run the copy.'
  if (code !== 'ERR_MODULE_NOT_FOUND') return ''
  const name = /Cannot find package '([^']+)'/.exec(message)?.[1]
  return name ? `\nInstall it: npm install ${name}` : '\nWrite the extension of imported files, e.g. "./tools.ts".'
}

/** The source line with a marker below it, which Node writes before the message. */
function excerptOf({ stack = '' }: Error): string {
  const end = stack.search(/\n+SyntaxError/)
  return end > 0 ? stack.slice(0, end) : ''
}

function lineOf(error: unknown, path: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frame = stack.split('\n').find((entry) => entry.trimStart().startsWith('at ') && entry.includes(path))
  const line = frame?.slice(frame.indexOf(path) + path.length).match(/^:(\d+)/)?.[1]
  return line ? ` (line ${line})` : ''
}
