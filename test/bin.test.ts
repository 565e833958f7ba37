// The bin is started by whatever Node the user has, an old one too: its first file must be able to say so.
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, parse } from './source.ts'

const bin = { file: 'dist/cli/index.js', text: readFileSync('dist/cli/index.js', 'utf8') }

test('the bin loads nothing before it has looked at the Node version', () => {
  expect(bin.text.startsWith('#!/usr/bin/env node\n')).toBe(true)
  expect(parse(bin).module.staticImports).toEqual([])
  expect(bin.text).toContain('process.versions.node')
})

test('the bin then loads the rest, which the build has not dropped', () => {
  const rest = importsOf(bin).map((specifier) => posix.join(posix.dirname(bin.file), specifier))
  expect(rest.length).toBeGreaterThan(0)
  expect(rest.filter((file) => !existsSync(file))).toEqual([])
})
