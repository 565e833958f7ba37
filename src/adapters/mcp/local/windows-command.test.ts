import { describe, expect, test } from 'vitest'
import { windowsCommand } from './windows-command.ts'

const NPX = 'C:\\Program Files\\nodejs\\npx.cmd'
const system = {
  env: { Path: 'C:\\tools;C:\\Program Files\\nodejs\\', PATHEXT: '.COM;.EXE;.BAT;.CMD', ComSpec: 'C:\\cmd.exe' },
  cwd: 'D:\\work',
  exists: (path: string) => files.has(path.toLowerCase()),
}
const files = new Set(
  [NPX, 'C:\\Program Files\\nodejs\\node.exe', 'D:\\work\\run.bat', 'C:\\tools\\both.exe', 'C:\\tools\\both.cmd'].map(
    (path) => path.toLowerCase(),
  ),
)
const through = (line: string) => ({
  command: 'C:\\cmd.exe',
  args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
  isVerbatim: true,
})

describe('windowsCommand()', () => {
  test('starts npx, which is a batch file, by cmd', () => {
    expect(windowsCommand('npx', ['-y', 'server', 'C:\\my files'], system)).toEqual(
      through('"C:\\Program Files\\nodejs\\npx.CMD" "-y" "server" "C:\\my files"'),
    )
  })

  test.each([
    ['node', ['-e', '"a" & %PATH%']],
    ['both', []],
    ['C:\\x\\server.exe', ['a']],
    ['missing', ['a']],
  ])('starts %s by itself, with its arguments as they are', (command, args) => {
    expect(windowsCommand(command, args, system)).toEqual({ command, args, isVerbatim: false })
  })

  test.each(['run', 'run.bat', 'D:\\work\\run.bat'])('finds the batch file %s', (command) => {
    const { args } = windowsCommand(command, [], system)
    expect(args.at(-1)?.toLowerCase()).toBe('""d:\\work\\run.bat""')
  })

  test.each([
    ['an empty argument', '', '""'],
    ['a space', 'a b', '"a b"'],
    ['commands', 'a & calc | more > x', '"a & calc | more > x"'],
    ['a quote that would end the argument', 'a" & calc "', '"a"" & calc """'],
    ['JSON', '{"a":1}', '"{""a"":1}"'],
    ['a variable', '%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
    ['a caret and an exclamation mark', '^!x!', '"^!x!"'],
    ['a backslash at the end', 'C:\\dir\\', '"C:\\dir\\\\"'],
    ['a backslash before a quote', 'a\\"b', '"a\\\\""b"'],
  ])('quotes %s', (_, argument, quoted) => {
    const { args } = windowsCommand('npx', [argument], system)
    expect(args.at(-1)).toBe(`""C:\\Program Files\\nodejs\\npx.CMD" ${quoted}"`)
  })

  test.each(['a\nb', 'a\rb', 'a\0b'])('refuses %j, which cmd would cut', (argument) => {
    expect(() => windowsCommand('npx', [argument], system)).toThrow('line break')
    expect(windowsCommand('node', [argument], system).args).toEqual([argument])
  })
})
