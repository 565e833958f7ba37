import { expect, test } from 'vitest'
import { type Languages, matchLanguage, resolveInterpreters, unknownLanguageResult } from './languages.ts'
import { packProgram } from './pack-program.ts'

test.each([
  ['python', 'python'],
  ['PYTHON', 'python'],
  [' Py ', 'python'],
  ['js', 'javascript'],
  ['Node', 'javascript'],
  ['', 'python'],
  ['LANGUAGE_UNSPECIFIED', 'python'],
  ['ruby', undefined],
  ['sh', undefined],
  ['constructor', undefined],
])('matchLanguage() matches the language name %j to %s', (asked, language) => {
  expect(matchLanguage(asked, ['python', 'javascript'])).toBe(language)
})

test('matchLanguage() prefers a configured language over an alias', () => {
  expect(matchLanguage('sh', ['bash', 'sh'])).toBe('sh')
})

test('unknownLanguageResult() names the supported languages', () => {
  expect(unknownLanguageResult('ruby', ['python', 'bash'])).toEqual({
    outcome: 'FAILED',
    output: 'Cannot run "ruby" code. Supported languages: python, bash.',
  })
})

test('resolveInterpreters() accepts preset names and custom commands', () => {
  expect([...resolveInterpreters(['python', 'bash']).keys()]).toEqual(['python', 'bash'])
  expect(resolveInterpreters({ Ruby: ['ruby', '-'] }).get('ruby')?.command).toEqual(['ruby', '-'])
})

test.each([
  [[], 'languages is empty'],
  [{}, 'languages is empty'],
  [['cobol'], '"cobol" is not a preset (python, javascript, bash)'],
  [['constructor'], 'is not a preset'],
  [{ ruby: [] }, 'the command of "ruby" must be a non-empty array of strings'],
  [{ ruby: 'ruby -' }, 'the command of "ruby" must be a non-empty array of strings'],
])('resolveInterpreters() rejects the languages %j', (languages, message) => {
  expect(() => resolveInterpreters(languages as unknown as Languages)).toThrow(message)
})

test('packProgram() replaces {file} with the path of the code, or connects the code to stdin', () => {
  const [ruby, cat] = [...resolveInterpreters({ ruby: ['ruby', '-w', '{file}'], cat: ['cat'] }).values()]
  if (!ruby || !cat) throw new Error('Both interpreters were configured.')
  const pack = { code: 'puts 1', usesTools: true, folder: '/f' }
  const files = [{ name: 'main', bytes: new TextEncoder().encode('puts 1') }]
  expect(packProgram(ruby, pack)).toEqual({ command: ['ruby', '-w', '/f/main'], stdin: undefined, files })
  expect(packProgram(cat, pack)).toEqual({ command: ['cat'], stdin: '/f/main', files })
})

test('packProgram() adds the tool client and the memory limit to the command of Node', () => {
  const interpreter = resolveInterpreters(['javascript']).get('javascript')
  if (!interpreter) throw new Error('The interpreter was configured.')
  const { command, files } = packProgram(interpreter, {
    code: '',
    usesTools: true,
    folder: '/f',
    memoryBytes: 5_000_000,
  })
  expect(command).toEqual(['node', '--max-old-space-size=5', '--import', '/f/tools.mjs', '/f/main.mjs'])
  expect(files.map(({ name }) => name)).toEqual(['main.mjs', 'tools.mjs'])
  expect(packProgram(interpreter, { code: '', usesTools: false, folder: '/f' }).command).toEqual([
    'node',
    '/f/main.mjs',
  ])
})
