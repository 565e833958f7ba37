import type { Document } from 'yaml'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'
import { MAX_YAML_TEXT } from './limits.ts'
import { applyMergeKeys } from './merge-keys.ts'

type Yaml = typeof import('yaml')

/** Parses YAML of the core schema: no tags of applications, no duplicate keys, few aliases. Throws INVALID_CONFIG. */
export async function parseYaml(text: string): Promise<unknown> {
  if (text.length > MAX_YAML_TEXT)
    throw invalid(`it has more than ${MAX_YAML_TEXT} characters. Convert it to JSON, which may be larger`)
  // Documents in JSON need no parser, so bundlers must not ask for one.
  const yaml = (await loadPeerByName('yaml')) as Yaml
  try {
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      // The parser compares all keys of a map with each other, which takes minutes for a long map.
      uniqueKeys: false,
      // The parser expands merge keys once for each use, which never ends for a chain of them.
      merge: false,
      logLevel: 'error',
    })
    // Warnings are about tags that the core schema does not have.
    const [problem] = [...document.errors, ...document.warnings]
    if (problem) throw new Error(problem.message.split('\n', 1)[0]?.replace(/:$/, ''))
    checkNodes(yaml, document)
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return applyMergeKeys(value)
  } catch (cause) {
    throw invalid(messageOf(cause), cause)
  }
}

/** The parser searches the whole document for the anchor of each alias. */
const MAX_ALIASES = 100

/** Refuses duplicate keys, keys that are not texts, and too many aliases. */
function checkNodes(yaml: Yaml, document: Document): void {
  let aliases = 0
  yaml.visit(document, {
    Alias: () => {
      if (++aliases > MAX_ALIASES) throw new Error(`it has more than ${MAX_ALIASES} aliases; use "$ref" instead`)
    },
    Map: (_, map) => {
      const keys = new Set<string>()
      for (const { key } of map.items) {
        if (!yaml.isScalar(key)) throw new Error('a key is not a text')
        const name = String(key.value)
        if (keys.has(name)) throw new Error(`the key ${JSON.stringify(name.slice(0, 100))} is there twice in one map`)
        keys.add(name)
      }
    },
  })
}

function invalid(problem: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `The OpenAPI document is not valid JSON or YAML: ${problem}.`, { cause })
}
