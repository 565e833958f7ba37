import { describe, expect, test } from 'vitest'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../context/context.ts'
import { cached } from '../policy/cached.ts'
import { tool } from './define-tool.ts'
import { filterTools } from './filter-tools.ts'
import { prefixTools } from './prefix-tools.ts'
import type { Tool } from './tool.ts'
import { StaticToolset, type Toolset } from './toolset.ts'

const context = { state: { get: () => undefined } } as unknown as ReadonlyContext
const make = (name: string) => tool({ name, description: `does ${name}`, run: () => name })
const files = () => new StaticToolset([make('read'), make('write'), make('delete')], { name: 'files' })
const names = async (toolset: Toolset) => (await toolset.listTools(context)).map(({ name }) => name)

describe('filterTools', () => {
  test('returns the listed tools, ignores unknown names, and returns no tools for an empty list', async () => {
    expect(await names(filterTools(files(), ['write', 'read', 'fly']))).toEqual(['read', 'write'])
    expect(await names(filterTools(files(), []))).toEqual([])
  })

  test('calls the predicate for each tool and each listing, with the context', async () => {
    let admin = false
    const contexts: ReadonlyContext[] = []
    const filtered = filterTools(files(), ({ name }, received) => {
      contexts.push(received)
      return admin || name === 'read'
    })
    expect(await names(filtered)).toEqual(['read'])
    admin = true
    expect(await names(filtered)).toEqual(['read', 'write', 'delete'])
    expect(contexts.every((received) => received === context)).toBe(true)
  })

  test('leaves a tool out when the predicate throws or returns no boolean', async () => {
    const throwing = filterTools(files(), ({ name }) => {
      if (name === 'write') throw new Error('no idea')
      return true
    })
    expect(await names(throwing)).toEqual(['read', 'delete'])
    expect(await names(filterTools(files(), (async () => true) as never))).toEqual([])
  })

  test('rejects a filter that is neither a list nor a function', () => {
    expect(() => filterTools(files(), 'read' as never)).toThrow(ToolwrightError)
  })
})

describe('prefixTools', () => {
  test('prefixes the name and the declaration, and runs the same body', async () => {
    const [read] = await prefixTools(files(), 'fs_').listTools(context)
    expect(read?.name).toBe('fs_read')
    expect(read?.declaration()).toEqual({ name: 'fs_read', description: 'does read' })
    expect(read?.declaration()).toBe(read?.declaration())
    expect(read?.run({}, {} as never)).toBe('read')
  })

  test('returns the same tool object for each listing', async () => {
    const prefixed = prefixTools(files(), 'fs_')
    const [first, again] = [await prefixed.listTools(context), await prefixed.listTools(context)]
    expect(again[0]).toBe(first[0])
  })

  test('returns a passive tool without a declaration', async () => {
    const passive: Tool = { name: 'p', description: '', declaration: () => undefined, run: () => 1 }
    const [made] = await prefixTools(new StaticToolset([passive]), 'x_').listTools(context)
    expect(made?.declaration()).toBeUndefined()
  })

  test('rejects invalid prefixes and names', async () => {
    for (const prefix of ['two words', '1', 'adk_request_', 5 as never])
      expect(() => prefixTools(files(), prefix)).toThrow(ToolwrightError)
    const long = prefixTools(new StaticToolset([make('x'.repeat(128))]), 'w_')
    await expect(long.listTools(context)).rejects.toThrow(/cannot be a tool's name/)
  })
})

test('filterTools sees the name without prefix, inside and outside of prefixTools and through policies', async () => {
  expect(await names(prefixTools(filterTools(files(), ['read']), 'fs_'))).toEqual(['fs_read'])
  expect(await names(filterTools(prefixTools(files(), 'fs_'), ['read']))).toEqual(['fs_read'])
  expect(await names(filterTools(prefixTools(prefixTools(files(), 'a_'), 'b_'), ['read']))).toEqual(['b_a_read'])
  const [prefixed] = await prefixTools(files(), 'fs_').listTools(context)
  const wrapped = new StaticToolset([cached(prefixed as Tool)])
  expect(await names(filterTools(wrapped, ['read']))).toEqual(['fs_read'])
})

test('filterTools and prefixTools forward shutdown and asyncDispose, and add neither', async () => {
  class Connection implements Toolset {
    #ended: string[] = []
    readonly name = 'connection'
    async listTools() {
      return []
    }
    async shutdown() {
      this.#ended.push('shutdown')
    }
    async [Symbol.asyncDispose]() {
      this.#ended.push('dispose')
    }
    get ended() {
      return this.#ended
    }
  }
  const connection = new Connection()
  const wrapped = prefixTools(filterTools(connection, []), 'x_')
  expect(wrapped.name).toBe('connection')
  await wrapped.shutdown?.()
  await wrapped[Symbol.asyncDispose]?.()
  expect(connection.ended).toEqual(['shutdown', 'dispose'])
  expect(prefixTools(files(), 'x_').shutdown).toBeUndefined()
})
