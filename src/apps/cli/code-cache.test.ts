import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** A folder with node_modules, and the folder in it where a process keeps compiled code. Empty: it keeps none. */
function cacheOf(prepare: (cache: string) => void): string {
  const project = mkdtempSync(join(tmpdir(), 'toolwright-code-'))
  onTestFinished(() => rmSync(project, { recursive: true }))
  const modules = join(project, 'node_modules')
  mkdirSync(modules)
  prepare(join(modules, '.cache', 'toolwright', 'code'))
  const program = `
    import { getCompileCacheDir } from 'node:module'
    import { keepCompiledCode } from ${JSON.stringify(resolve('src/apps/cli/code-cache.ts'))}
    keepCompiledCode(${JSON.stringify(join(modules, 'toolwright', 'dist', 'cli', 'index.js'))})
    process.stdout.write(getCompileCacheDir() ?? '')`
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const used = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { env, encoding: 'utf8' })
  return used.replace(project, '')
}

test('commands keep compiled code in node_modules, readable for the user alone', () => {
  expect(cacheOf(() => {})).toMatch(/^\/node_modules\/\.cache\/toolwright\/code\//)
})

test('compiled code is not taken from a folder that other users can write to', () => {
  const used = cacheOf((cache) => {
    mkdirSync(cache, { recursive: true })
    chmodSync(cache, 0o777)
  })
  expect(used).toBe('')
})
