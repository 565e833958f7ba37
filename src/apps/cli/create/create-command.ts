import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { escapeText } from '../../../core/base/escape.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Command } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { packageFolder } from '../package-folder.ts'
import { quoteForShell } from '../screen/quote-for-shell.ts'
import { UsageError } from '../terminal.ts'
import { projectFiles } from './project-files.ts'

/** `toolwright create`. */
export const createCommand: Command = defineCommand({
  name: 'create',
  summary: 'Create a project that runs and tests at once',
  usage: '<folder>',
  description: [
    'Creates a folder with an agent, its tests and its settings: one tool that reads, and one that waits for an approval. It runs without a key. Nothing is installed and no existing file is changed: a folder that is not empty is refused.',
  ],
  options: {},
  examples: [['npx toolwright create my-agent', 'then: cd my-agent && npm install && npm test && npm start']],
  run: async ({ positionals: [path, ...others] }, { folder, output }) => {
    if (!path || others.length) throw new UsageError('Pass one folder. Usage: toolwright create <folder>')
    const target = resolve(folder, path)
    const files = projectFiles({ name: packageName(target), packageFolder: packageFolder() })
    createFolder(path, target)
    for (const [name, text] of files) writeFileSync(join(target, name), text, { flag: 'wx' })
    const shown = relative(folder, target) || '.'
    const enter = shown === '.' ? '' : `  cd ${quoteForShell(shown)}\n`
    output.write(
      `Created ${escapeText(shown)}: ${[...files.keys()].join(', ')}\n\nNext:\n${escapeText(enter)}  npm install\n  npm test\n  npm start\n`,
    )
    return 0
  },
})

/** Creates the folder, or accepts an empty one. */
function createFolder(path: string, target: string): void {
  let names: string[]
  try {
    mkdirSync(target, { recursive: true })
    names = readdirSync(target)
  } catch (error) {
    const message = `The folder "${path}" cannot be created: ${messageOf(error)}. Pass another folder.`
    throw new ToolwrightError('INVALID_CONFIG', message, { cause: error })
  }
  if (names.length > 0)
    throw new ToolwrightError('INVALID_CONFIG', `The folder "${path}" is not empty. Pass a new folder.`)
}

/** A valid package name, from the name of the folder. */
function packageName(target: string): string {
  const name = basename(target)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return name || 'my-agent'
}
