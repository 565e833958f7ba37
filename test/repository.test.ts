// The files around the source: workflows, lock, editor settings and release notes.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const read = (file: string): string => readFileSync(file, 'utf8')
const readJson = (file: string) => JSON.parse(read(file))

describe.each(globSync('.github/workflows/*.yml'))('%s', (file) => {
  const text = read(file)

  test('pins every action to a full commit SHA and names its version', () => {
    const actions = text.match(/uses: .*/g) ?? []
    expect(actions).not.toEqual([])
    expect(actions.filter((line) => !/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
  })

  test('limits the permissions of its token', () => {
    expect(text).toMatch(/^permissions:( \{\}|\n {2}contents: read)$/m)
  })

  test('passes no expression into a shell command', () => {
    expect(text.match(/run: .*\$\{\{.*/g)).toBeNull()
  })
})

test('the workflow tests the oldest supported Node on Linux, macOS and Windows', () => {
  const [, oldest] = /^>=(\d+)/.exec(readJson('package.json').engines.node) ?? []
  const workflow = read('.github/workflows/test.yml')
  expect(workflow).toContain(`node: [${oldest},`)
  expect(workflow).toContain('os: [ubuntu-latest, macos-latest, windows-latest]')
})

test('the lock names no registry address and has an integrity for every package', () => {
  const packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }> =
    readJson('package-lock.json').packages
  const installed = Object.entries(packages).filter(([path]) => path.includes('node_modules/'))
  expect(installed.filter(([, { resolved }]) => resolved?.startsWith('http'))).toEqual([])
  expect(installed.filter(([, { link, integrity }]) => !link && !integrity)).toEqual([])
})

test('all versions of development dependencies are exact', () => {
  const versions = Object.entries<string>(readJson('package.json').devDependencies)
  expect(versions.filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
})

test('the editor settings match the formatter', () => {
  const { formatter } = readJson('biome.json')
  const settings = read('.editorconfig')
  expect(settings).toContain(`indent_style = ${formatter.indentStyle}`)
  expect(settings).toContain(`max_line_length = ${formatter.lineWidth}`)
  expect(settings).toContain('end_of_line = lf')
})

test('changesets can version the package, because it is a workspace of its own', () => {
  const { workspaces, publishConfig } = readJson('package.json')
  expect(workspaces).toContain('.')
  expect(publishConfig).toEqual({ access: 'public', provenance: true })
  expect(readJson('.changeset/config.json')).toMatchObject({ access: 'public', baseBranch: 'main' })
})

test('the changelog holds published versions only, because changesets describe the next one', () => {
  const headings = read('CHANGELOG.md').match(/^## .*$/gm) ?? []
  expect(headings).toContain(`## ${readJson('package.json').version}`)
  expect(headings.filter((heading) => !/^## \d+\.\d+\.\d+$/.test(heading))).toEqual([])
})

test.each(['npm run', 'npx vitest run'])(
  'AGENTS.md and CONTRIBUTING.md use existing scripts and paths after %s',
  (command) => {
    const text = read('AGENTS.md') + read('CONTRIBUTING.md')
    const words = [...text.matchAll(new RegExp(`${command} ([\\w:/.-]+)`, 'g'))].map(([, word = '']) => word)
    const scripts = Object.keys(readJson('package.json').scripts)
    expect(words.filter((word) => !scripts.includes(word) && !existsSync(word))).toEqual([])
    expect(words).not.toEqual([])
  },
)

describe('check-node', () => {
  const startOn = (version: string): { status: number | null; stderr: string } => {
    const program = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('./runtime/check-node.cjs')`
    return spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })
  }

  test.each(['20.19.0', '22.17.1'])('rejects Node %s in one sentence that names the required version', (version) => {
    const { status, stderr } = startOn(version)
    expect(status).toBe(1)
    expect(stderr).toContain(`Node 22.18 or newer is required, but this is Node ${version}.`)
  })

  test.each(['22.18.0', '24.0.0', '26.10.0'])('accepts Node %s', (version) => {
    expect(startOn(version)).toMatchObject({ status: 0, stderr: '' })
  })
})

describe('check-commit-subjects', () => {
  test.each([
    ['accepts a subject of 72 characters', 72, 0],
    ['rejects a subject of 73 characters', 73, 1],
  ])('%s', (_, length, status) => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-git-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false']
    const git = (...args: string[]): unknown =>
      execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'pipe' })
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '--message', 'First')
    git('commit', '--quiet', '--allow-empty', '--message', 'x'.repeat(length))
    const script = resolve('.github/check-commit-subjects.mjs')
    expect(spawnSync(process.execPath, [script, 'HEAD~1..HEAD'], { cwd: folder }).status).toBe(status)
  })
})

test('no file has the marks of a merge conflict', () => {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 10_000_000 }).split('\n')
  const texts = files.filter((file) => /\.(?:md|m?ts|tsx|m?js|json|ya?ml|css|html)$/.test(file) && existsSync(file))
  expect(texts.length).toBeGreaterThan(1000)
  expect(texts.filter((file) => /^(?:<{7}|>{7}) /m.test(read(file)))).toEqual([])
})
