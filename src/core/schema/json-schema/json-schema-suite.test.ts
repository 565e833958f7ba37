import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../base/json.ts'
import { MAX_WORK } from '../work-budget.ts'
import { checkSchema } from './check-schema.ts'
import { compileNodes } from './compile-nodes.ts'
import type { SchemaNode } from './schema-node.ts'
import { isValid } from './validate.ts'

interface Group {
  readonly description: string
  readonly schema: JsonObject | boolean
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../../test/json-schema-suite/${name}.json`, import.meta.url), 'utf8'))

const refused: { readonly [draft: string]: { readonly [reason: string]: readonly string[] } } = read('refused')

/** Tests whose result differs on purpose. Schemas of both drafts are validated by the rules of draft 2020-12. */
const DIFFERENT: { readonly [draft: string]: readonly string[] } = {
  // a metaschema is a remote schema, and remote schemas are not read: no metaschema can switch keywords off
  'draft2020-12': [
    'vocabulary: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates',
  ],
  draft7: [
    // "contentEncoding" and "contentMediaType" are not validated: the tests "content" of draft 2020-12 require this
    'optional/content: validation of string-encoded content based on media type: an invalid JSON document',
    'optional/content: validation of binary string-encoding: an invalid base64 string (% is not a valid character)',
    'optional/content: validation of binary-encoded media type documents: a validly-encoded invalid JSON document',
    'optional/content: validation of binary-encoded media type documents: an invalid base64 string that is valid JSON',
    // keywords beside "$ref" are validated: the tests "ref" of draft 2020-12 require this
    'ref: ref overrides any sibling keywords: ref valid, maxItems ignored',
  ],
}

/** Compiles a schema. Returns undefined when the schema is refused. */
function compile(schema: Group['schema']): SchemaNode | undefined {
  try {
    const checked = checkSchema(typeof schema === 'boolean' ? { allOf: [schema] } : schema, 'T', { patterns: true })
    return compileNodes(checked.jsonSchema, { what: 'T', lenient: false })
  } catch {
    return undefined
  }
}

describe.each(['draft2020-12', 'draft7'])('the official JSON Schema tests of %s', (draft) => {
  const groups = Object.entries(read(draft) as { [file: string]: Group[] }).flatMap(([file, list]) =>
    list.map((group) => ({ ...group, id: `${file}: ${group.description}`, root: compile(group.schema) })),
  )

  test('are refused only for the schemas that refused.json lists', () => {
    const found = groups.flatMap(({ id, root }) => (root ? [] : [id]))
    expect(found.sort()).toEqual(
      Object.values(refused[draft] ?? {})
        .flat()
        .sort(),
    )
  })

  test('agree with the validator on every value', () => {
    let count = 0
    const different: string[] = []
    const accepted: string[] = []
    for (const { id, root, tests } of groups)
      for (const { description, data, valid } of root ? tests : []) {
        count++
        if (isValid(root as SchemaNode, data, { left: MAX_WORK }) === valid) continue
        different.push(`${id}: ${description}`)
        if (!valid && !id.startsWith('optional/content:')) accepted.push(`${id}: ${description}`)
      }
    expect(accepted, 'invalid values that are accepted').toEqual([])
    expect(different.sort()).toEqual([...(DIFFERENT[draft] ?? [])].sort())
    expect(count).toBeGreaterThan(1_200)
  })
})
