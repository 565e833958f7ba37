// Users start the command with any Node. Its first file must run on an old Node and report the required version.
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, parse } from './source.ts'

const bin = { file: 'dist/cli/index.js', text: readFileSync('dist/cli/index.js', 'utf8') }

test('the command checks the Node version before it loads other files', () => {
  expect(bin.text.startsWith('#!/usr/bin/env node\n')).toBe(true)
  expect(parse(bin).module.staticImports).toEqual([])
  expect(bin.text).toContain('process.versions.node')
})

test('the command loads files that are in dist', () => {
  const rest = importsOf(bin).map((specifier) => posix.join(posix.dirname(bin.file), specifier))
  expect(rest.length).toBeGreaterThan(0)
  expect(rest.filter((file) => !existsSync(file))).toEqual([])
})
