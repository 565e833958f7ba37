// Runs the types of the signatures through ts-json-schema-generator and compares its verdicts with those of our schemas.
// Run by hand: npx node --conditions=toolwright:source test/infer/signatures/compare-generator.ts
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Schema, Validator } from '@cfworker/json-schema'
import { createGenerator } from 'ts-json-schema-generator'
import fc from '../../../src/core/base/fast-check.test-kit.ts'
import { isRecord, type JsonObject } from '../../../src/core/base/json.ts'
import { arbitraryOf } from './arbitrary.ts'
import { mutationsOf } from './mutations.ts'
import { compiler, compilerOptions, FIXTURES, readTable, type Signature, TOPICS } from './read-table.ts'

/** A way in which the generator gets the type of the arguments. */
interface Form {
  readonly title: string
  /** A type that is added to the file of the function. */
  readonly type?: (signature: Signature) => string | undefined
}

const FORMS: readonly Form[] = [
  { title: 'the function itself, which the generator reads with functions: "comment"' },
  { title: 'Parameters<typeof fn>', type: fromFunction },
  { title: 'a type with the text of the parameters, written for the generator', type: fromText },
]

const { signatures } = readTable()
const withArguments = signatures.filter(({ inferred }) => inferred.call.some((parameter) => !('context' in parameter)))
console.log(`${withArguments.length} signatures with arguments`)
for (const form of FORMS) compare(form)
compareMistakes()

/** Prints one line per signature, and the totals. */
function compare(form: Form): void {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-compare-'))
  const counts = new Map<string, number>()
  console.log(`\n# ${form.title}`)
  try {
    writeFixtures(folder, form)
    const ts = compiler()
    const rootNames = TOPICS.map((topic) => join(folder, `${topic}.ts`))
    const tsProgram = ts.createProgram({ rootNames, options: compilerOptions(ts) })
    for (const [index, signature] of withArguments.entries()) {
      const line = verdict(signature, () => {
        const functions = form.type ? 'fail' : 'comment'
        const generator = createGenerator({
          tsProgram,
          functions,
          topRef: false,
          strictTuples: true,
          encodeRefs: false,
        })
        if (form.type) return generator.createSchema(`Arguments${index}`)
        const path = signature.key.split('.').slice(1).join('.')
        return namedArguments(generator.createSchema(path === 'default' ? 'ship' : path), signature)
      })
      const [word = ''] = line.split(':')
      counts.set(word, (counts.get(word) ?? 0) + 1)
      console.log(`${signature.key}: ${line}`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  console.log([...counts].map(([word, count]) => `${word}: ${count}`).join(', '))
}

/** Prints which types of `fixtures/mistakes.ts`, all of which we refuse, the generator accepts. */
function compareMistakes(): void {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-compare-'))
  console.log('\n# types that have no schema')
  try {
    const ts = compiler()
    const file = join(folder, 'mistakes.ts')
    const original = readFileSync(join(FIXTURES, 'mistakes.ts'), 'utf8')
    const source = original.replace('../../../../src', join(FIXTURES, '../../../../src'))
    const found = [...source.matchAll(/^tool\((?:\/\*!\*\/ )?function (\w+)\((.*)\) \{\}\)$/gm)]
    // a tuple has the names, comments and types of the parameters
    const types = found.map(([, name, parameters]) => `export interface ${name} { call: [${parameters}] }`)
    const written = types.map((type) => type.replace(/(\/\*!\*\/ )?\{[^:[]*\}(?=: )/g, 'object'))
    writeFileSync(file, `${source}\n${written.join('\n')}\n`)
    const tsProgram = ts.createProgram({ rootNames: [file], options: compilerOptions(ts) })
    const accepted = found.flatMap(([, name = '']) => {
      try {
        const schema = createGenerator({ tsProgram, functions: 'fail', topRef: false }).createSchema(name)
        return [
          `${name}: accepts ${JSON.stringify((schema.properties?.call as JsonObject | undefined) ?? schema).slice(0, 120)}`,
        ]
      } catch {
        return []
      }
    })
    console.log([...accepted, `accepts: ${accepted.length} of ${found.length}`].join('\n'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The arguments in the schema of a function: those by name without the context, or the one object of all arguments. */
function namedArguments(schema: object, { inferred }: Signature): object {
  const { definitions, properties } = schema as { definitions?: JsonObject; properties?: { namedArgs?: JsonObject } }
  const named = properties?.namedArgs
  if (!named || !isRecord(named.properties)) throw new Error('the schema has no arguments')
  const entries = Object.entries(named.properties)
  const whole = inferred.call.findIndex((parameter) => 'allArguments' in parameter)
  if (whole >= 0) return { ...(entries[whole]?.[1] as JsonObject), definitions }
  const kept = new Set(inferred.call.flatMap((parameter) => ('argument' in parameter ? [parameter.argument] : [])))
  const required = (named.required as string[] | undefined)?.filter((name) => kept.has(name)) ?? []
  return { ...named, properties: Object.fromEntries(entries.filter(([name]) => kept.has(name))), required, definitions }
}

/** Copies the fixtures and adds a type with the arguments of each function. */
function writeFixtures(folder: string, form: Form): void {
  copyFileSync(join(FIXTURES, 'shared.ts'), join(folder, 'shared.ts'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const topic of TOPICS) {
    const added = withArguments.map((signature, index) => {
      if (!signature.key.startsWith(`${topic}.`)) return ''
      const type = form.type?.(signature)
      return type === undefined ? '' : `export type Arguments${index} = ${type}`
    })
    const source = readFileSync(join(FIXTURES, `${topic}.ts`), 'utf8')
    const context = `from '${join(FIXTURES, '../../../../src/engine/context/context.ts')}'`
    writeFileSync(
      join(folder, `${topic}.ts`),
      `${source.replace("from '../../../../src/engine/context/context.ts'", context)}\n${added.join('\n')}\n`,
    )
  }
}

/** `Parameters<typeof getWeather>[0]`, or an object of all parameters. */
function fromFunction({ key, inferred }: Signature): string {
  const path = key.split('.').slice(1).join('.')
  const parameters = `Parameters<typeof ${path === 'default' ? 'ship' : path}>`
  const rest = (index: number): string => `(${parameters} extends [${'unknown, '.repeat(index)}...infer R] ? R : never)`
  return argumentsType({ inferred, typeOf: (index, isRest) => (isRest ? rest(index) : `${parameters}[${index}]`) })
}

/** The type as it is written, or an object of the types of all parameters. */
function fromText({ inferred, typeTexts }: Signature): string | undefined {
  const isWritten = inferred.call.every((parameter, index) => 'context' in parameter || typeTexts[index] !== undefined)
  return isWritten ? argumentsType({ inferred, typeOf: (index) => typeTexts[index] ?? '' }) : undefined
}

function argumentsType(from: {
  readonly inferred: Signature['inferred']
  readonly typeOf: (index: number, isRest: boolean) => string
}): string {
  const { call, parameters } = from.inferred
  const whole = call.findIndex((parameter) => 'allArguments' in parameter)
  if (whole >= 0) return from.typeOf(whole, false)
  const required = Array.isArray(parameters.required) ? parameters.required : []
  const properties = call.map((parameter, index) => {
    if (!('argument' in parameter)) return ''
    const mark = required.includes(parameter.argument) ? '' : '?'
    return `${parameter.argument}${mark}: ${from.typeOf(index, parameter.rest === true)}`
  })
  return `{ ${properties.filter(Boolean).join('; ')} }`
}

/** `same`, `fails`, `refuses right values` or `accepts wrong values`, with an example. */
function verdict({ inferred }: Signature, generate: () => object): string {
  let validator: Validator
  try {
    validator = new Validator(generate() as Schema, '7')
  } catch (error) {
    return `fails: ${(error as Error).message.split('\n')[0]}`
  }
  const drawn = fc.sample(arbitraryOf(inferred.parameters), { seed: 16, numRuns: 20 })
  const refused = drawn.find((value) => !isValid(validator, value))
  if (refused !== undefined) return `refuses right values: ${JSON.stringify(refused).slice(0, 100)}`
  const wrong = drawn.flatMap((value) => mutationsOf(inferred.parameters, value))
  const accepted = wrong.find(({ value }) => isValid(validator, value))
  return accepted ? `accepts wrong values: ${accepted.what}` : 'same'
}

function isValid(validator: Validator, value: unknown): boolean {
  try {
    return validator.validate(value).valid
  } catch {
    return false
  }
}
