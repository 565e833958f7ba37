import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { commands } from '../commands.ts'
import { runCommandLine } from '../terminal.test-kit.ts'

const hasBash = spawnSync('bash', ['--version']).status === 0
if (!hasBash) console.warn('NOT TESTED: completion in bash, which is not installed.')

describe.skipIf(!hasBash)('the completion script in a real bash', () => {
  let script = ''
  beforeAll(async () => {
    script = (await runCommandLine(['completion', 'bash'])).out
  })

  /** The words that Tab offers after these words. */
  function complete(...words: string[]): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-completion-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const name of ['agent.ts', 'my agent.ts']) writeFileSync(join(folder, name), '')
    const program = `${script}
COMP_WORDS=(toolwright "$@"); COMP_CWORD=$#; _toolwright; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', program, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').filter(Boolean).sort()
  }

  /** The words that Tab offers after npx and these words, where npx has a completion already. */
  function completeNpx(...words: string[]): string {
    const program = `_other() { COMPREPLY=(other); }; complete -F _other npx
${script}
${script}
[[ $(complete -p npx) =~ -F[[:space:]]([^[:space:]]+) ]]; COMP_WORDS=(npx "$@"); COMP_CWORD=$#; "\${BASH_REMATCH[1]}"; echo "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', program, 'bash', ...words], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.trimEnd()
  }

  test('completes commands and options after npx toolwright', () => {
    expect(completeNpx('toolwright', 'doc')).toBe('doctor')
    expect(completeNpx('--yes', 'toolwright@latest', 'run', 'x.ts', '--ver')).toBe('--verbose')
  })

  test('leaves the completion of other programs after npx as it was', () => {
    expect(completeNpx('tool')).toBe('other')
    expect(completeNpx('other', 'toolwright')).toBe('other')
    expect(completeNpx('')).toBe('other')
  })

  test('completes every command', () => {
    expect(complete('')).toEqual([...commands.map(({ name }) => name), '--help', '--version'].sort())
    expect(complete('comp')).toEqual(['completion'])
  })

  test.each(commands)('completes every option of $name', ({ name, options }) => {
    const expected = [...Object.keys(options), 'help'].map((option) => `--${option}`).sort()
    expect(complete(name, 'x.ts', '--')).toEqual(expected)
  })

  test('completes options of a part of a command, choices and file names', () => {
    expect(complete('mcp', 'trust', 'x.ts', '--a')).toEqual(['--all', '--app'])
    expect(complete('mcp', 'tr')).toEqual(['trust'])
    expect(complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
    expect(complete('run', 'ag')).toEqual(['agent.ts'])
    expect(complete('run', 'my')).toEqual(['my agent.ts'])
    expect(complete('run', 'x.ts', '--db', 'ag')).toEqual(['agent.ts'])
  })
})

test.each(['zsh', 'fish'])('the completion script for %s names every command and option', async (shell) => {
  const { code, out } = await runCommandLine(['completion', shell])
  expect(code).toBe(0)
  for (const { name, options } of commands) {
    expect(out).toContain(name)
    for (const option of Object.keys(options)) expect(out).toContain(shell === 'zsh' ? `--${option}[` : `-l ${option} `)
  }
})

for (const shell of ['zsh', 'fish']) {
  const isInstalled = spawnSync(shell, ['--version']).status === 0
  if (!isInstalled) console.warn(`NOT TESTED: the syntax of the completion script in ${shell}, which is not installed.`)
  test.skipIf(!isInstalled)(`the completion script has no syntax error in a real ${shell}`, async () => {
    const { out } = await runCommandLine(['completion', shell])
    const { status, stderr } = spawnSync(shell, ['--no-execute'], { input: out, encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
}

test.each([[], ['tcsh'], ['bash', 'zsh']])('toolwright completion %s names the shells', async (...shells) => {
  const { code, errors } = await runCommandLine(['completion', ...shells])
  expect(code).toBe(2)
  expect(errors).toContain('Usage: toolwright completion <bash|zsh|fish>')
})

test('toolwright completion names a shell that it does not know', async () => {
  const { errors } = await runCommandLine(['completion', 'tcsh'])
  expect(errors).toContain('There is no script for the shell "tcsh".')
})
