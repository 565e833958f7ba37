import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { createInferrer } from '../../../src/apps/infer/create-inferrer.ts'
import { FIXTURES } from './read-table.ts'

const isFunction = 'is a function, which a model cannot send. Remove it, or import the function in the body.'
const isClass =
  'is an instance of the class Wallet, which JSON cannot carry. Use an interface with its data, and create the instance in the body.'
const isAny =
  'is any, so nothing would be checked. Write its type, or allow any value with the tag @any in its doc comment.'
const isMissing = 'cannot be found. Check the name and its import; run tsc for the details.'
const isMixed = 'mixes string, Date or Uint8Array, which are all strings in JSON. Use one of them.'
const isNever = 'is never, so no value fits. Write the type of the values.'
const isJson = (text: string, instead: string): string => `is ${text}, which JSON cannot carry. Use ${instead}.`

/** The messages of the fixture, in the order of its marks. */
const MESSAGES = [
  'The type of property "inner.inner.inner.….inner.value" is too large or too deeply nested for a schema. Use a smaller type.',
  `The type of property "onDone" ${isFunction}`,
  `The type of parameter "callback" ${isFunction}`,
  `The type of property "then" ${isFunction}`,
  `The type of parameter "wallet" ${isClass}`,
  `The type of each item of property "wallets" ${isClass}`,
  `The type of parameter "options" ${isClass}`,
  `The type of property "owner" ${isClass}`,
  `The type of property "prices" ${isJson('Map<string, number>', 'Record<string, ...>')}`,
  `The type of property "key" ${isJson('symbol', 'a string')}`,
  `The type of parameter "amount" ${isJson('bigint', 'a string, or a number')}`,
  `The type of parameter "value" ${isAny}`,
  `The type of each item of property "values" ${isAny}`,
  `The type of each value of property "values" ${isAny}`,
  `The type of all arguments ${isNever}`,
  'Function "typeParameter" has type parameters, which no call fills in. Replace each with a type.',
  `The type of parameter "prices" ${isJson('Map<string, number>', 'Record<string, ...>')}`,
  `The type of parameter "names" ${isJson('Set<string>', 'an array')}`,
  `The type of parameter "pattern" ${isJson('RegExp', 'a string')}`,
  `The type of parameter "address" ${isJson('URL', 'a string with the tag @format uri')}`,
  `The type of parameter "later" ${isJson('Promise<string>', 'the type of its value')}`,
  `The type of parameter "file" ${isJson('Buffer<ArrayBufferLike>', 'Uint8Array')}`,
  `The type of parameter "error" ${isJson('Error', 'an object with its data')}`,
  `The type of parameter "run" ${isJson('Function', 'the data that it needs')}`,
  `The type of parameter "value" ${isMissing}`,
  `The type of property "value" ${isMissing}`,
  'Function "destructuredBeside" has a destructured parameter beside others. Give it a name, or use one object parameter.',
  'Function "destructuredArray" has a destructured array. Give it a name, or use one object parameter.',
  'The type of the destructured parameter is not an object. Give the parameter a name.',
  `The type of parameter "day" ${isMixed}`,
  `The type of parameter "value" ${isMixed}`,
  `The type of parameter "value" ${isNever}`,
  `The type of property "value" ${isJson('undefined', 'null, or make the property optional')}`,
  'The type of all arguments has a property with a symbol as its name. Use a string.',
  'The keys of property "values" are symbol, which no schema describes. Use string.',
  'The type of parameter "code" is Uppercase<string>, which no schema describes. Use string with the tag @pattern.',
  'The keys of property "values" are Uppercase<string>, which no schema describes. Use string.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template literal type
  'The type of parameter "range" is `${string}..${number}`, which no schema describes. Use string with the tag @pattern.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template literal type
  'The type of parameter "code" is `a${string}` & `${string}b`, which no schema describes. Use string with the tag @pattern.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template literal type
  'The keys of property "values" are `a${string}` & `${string}b`, which no schema describes. Use string.',
  'The type of parameter "values" has items after a rest element. Put the rest element last.',
  `The type of property "a.b.c" ${isJson('bigint', 'a string, or a number')}`,
  'The tag @minimum of property "a" takes a number, got "one".',
  'The tag @minLength of property "a" takes a whole number >= 0, got "-1".',
  'The tag @pattern of property "a" takes a regular expression, got "(".',
  'The tag @format of property "a" needs a value, got "".',
  'The tag @multipleOf of property "a" takes a number > 0, got "0".',
  'The tag @default of property "a" is "ten", which its type does not accept. Change one of them.',
  'The tag @minimum of property "a" applies to a number only. Remove it, or change the type.',
  'The tag @minItems of property "a" applies to an array only. Remove it, or change the type.',
  'The tag @maxLength of parameter "a" applies to a string only. Remove it, or change the type.',
  'The tag @minmum of property "a" does not exist. Write @minimum, or choose another name.',
  'The tag @maxlength of parameter "a" does not exist. Write @maxLength, or choose another name.',
  'The tag @patern of parameter "a" does not exist. Write @pattern, or choose another name.',
  `The type of parameter "a" ${isJson('symbol', 'a string')}`,
  `The type of parameter "b" ${isJson('bigint', 'a string, or a number')}`,
  `The type of property "city" ${isAny}`,
  'Function "overloaded" has overloads. Write one signature for the tool.',
]

test('one error lists all mistakes of a file with line, column and what to write instead', () => {
  const file = join(FIXTURES, 'mistakes.ts')
  const source = readFileSync(file, 'utf8')
  const positions = marks(source)
  expect(positions).toHaveLength(MESSAGES.length)
  const shown = relative(process.cwd(), file)
  const inferrer = createInferrer({ folder: FIXTURES, cache: false })
  const [first, ...lines] = linesOf(() => inferrer.transform(file, source))
  expect(first).toBe(`${lines.length} mistakes in functions that are used as tools:`)
  // the functions of the fixture have no doc comments, which is a mistake of its own
  const ofTypes = lines.filter((line) => !line.includes('has no doc comment'))
  expect(ofTypes).toEqual(MESSAGES.map((message, index) => `${shown}:${positions[index]} ${message}`))
  expect(lines.length).toBeGreaterThan(ofTypes.length)
})

/** The lines and columns behind the marks of a source. */
function marks(source: string): string[] {
  return source
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/\/\*!\*\/ /g)].map((mark) => `${index + 1}:${mark.index + mark[0].length + 1}`),
    )
}

function linesOf(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    return (error as Error).message.split('\n')
  }
  return []
}
