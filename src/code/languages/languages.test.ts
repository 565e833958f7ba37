import { expect, test } from 'vitest'
import { type Languages, languageOf, programsOf, unknownLanguage } from './languages.ts'
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
])('%j means %s', (asked, language) => {
  expect(languageOf(asked, ['python', 'javascript'])).toBe(language)
})

test('a language of one’s own name wins over an alias', () => {
  expect(languageOf('sh', ['bash', 'sh'])).toBe('sh')
})

test('an unknown language is for the model to mend', () => {
  expect(unknownLanguage('ruby', ['python', 'bash'])).toEqual({
    outcome: 'FAILED',
    output: '"ruby" cannot be run here, only: python, bash.',
  })
})

test('presets by name, and commands of one’s own', () => {
  expect([...programsOf(['python', 'bash']).keys()]).toEqual(['python', 'bash'])
  expect(programsOf({ Ruby: ['ruby', '-'] }).get('ruby')?.command).toEqual(['ruby', '-'])
})

test.each([
  [[], 'languages is empty'],
  [{}, 'languages is empty'],
  [['cobol'], '"cobol" is no preset (python, javascript, bash)'],
  [['constructor'], 'is no preset'],
  [{ ruby: [] }, 'The command of ruby must be a list of words'],
  [{ ruby: 'ruby -' }, 'The command of ruby must be a list of words'],
])('%j is refused', (languages, message) => {
  expect(() => programsOf(languages as unknown as Languages)).toThrow(message)
})

test('code goes where {file} stands, and else to stdin', () => {
  const [ruby, cat] = [...programsOf({ ruby: ['ruby', '-w', '{file}'], cat: ['cat'] }).values()]
  if (!ruby || !cat) throw new Error('They were given.')
  const pack = { code: 'puts 1', usesTools: true, folder: '/f' }
  const files = [{ name: 'main', bytes: new TextEncoder().encode('puts 1') }]
  expect(packProgram(ruby, pack)).toEqual({ command: ['ruby', '-w', '/f/main'], stdin: undefined, files })
  expect(packProgram(cat, pack)).toEqual({ command: ['cat'], stdin: '/f/main', files })
})

test('tools and memory are words of the command where a program has them', () => {
  const program = programsOf(['javascript']).get('javascript')
  if (!program) throw new Error('It was given.')
  const { command, files } = packProgram(program, { code: '', usesTools: true, folder: '/f', memoryBytes: 5_000_000 })
  expect(command).toEqual(['node', '--max-old-space-size=5', '--import', '/f/tools.mjs', '/f/main.mjs'])
  expect(files.map(({ name }) => name)).toEqual(['main.mjs', 'tools.mjs'])
  expect(packProgram(program, { code: '', usesTools: false, folder: '/f' }).command).toEqual(['node', '/f/main.mjs'])
})
