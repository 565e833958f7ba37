import { describe, expect, test } from 'vitest'
import { ToolwrightError } from '../error/error.ts'
import { cached } from '../policy/cached.ts'
import type { ReadonlyContext } from './context.ts'
import { tool } from './define.ts'
import { filterTools } from './filter.ts'
import { prefixTools } from './prefix.ts'
import type { Tool } from './tool.ts'
import { StaticToolset, type Toolset } from './toolset.ts'

const context = { state: { get: () => undefined } } as unknown as ReadonlyContext
const make = (name: string) => tool({ name, description: `does ${name}`, run: () => name })
const files = () => new StaticToolset([make('read'), make('write'), make('delete')], { name: 'files' })
const names = async (toolset: Toolset) => (await toolset.listTools(context)).map(({ name }) => name)

describe('filterTools', () => {
  test('lets the named tools through; a name nobody has is no error; an empty list is no tools', async () => {
    expect(await names(filterTools(files(), ['write', 'read', 'fly']))).toEqual(['read', 'write'])
    expect(await names(filterTools(files(), []))).toEqual([])
  })

  test('asks the predicate about each tool, each time, with who asks', async () => {
    let admin = false
    const asked: ReadonlyContext[] = []
    const filtered = filterTools(files(), ({ name }, who) => {
      asked.push(who)
      return admin || name === 'read'
    })
    expect(await names(filtered)).toEqual(['read'])
    admin = true
    expect(await names(filtered)).toEqual(['read', 'write', 'delete'])
    expect(asked.every((who) => who === context)).toBe(true)
  })

  test('a predicate that throws or answers nonsense leaves the tool out', async () => {
    const throwing = filterTools(files(), ({ name }) => {
      if (name === 'write') throw new Error('no idea')
      return true
    })
    expect(await names(throwing)).toEqual(['read', 'delete'])
    expect(await names(filterTools(files(), (async () => true) as never))).toEqual([])
  })

  test('anything but a list or a function is refused', () => {
    expect(() => filterTools(files(), 'read' as never)).toThrow(ToolwrightError)
  })
})

describe('prefixTools', () => {
  test('puts the prefix before the name, in the declaration too, and runs the same body', async () => {
    const [read] = await prefixTools(files(), 'fs_').listTools(context)
    expect(read?.name).toBe('fs_read')
    expect(read?.declaration()).toEqual({ name: 'fs_read', description: 'does read' })
    expect(read?.declaration()).toBe(read?.declaration())
    expect(read?.run({}, {} as never)).toBe('read')
  })

  test('gives the same tool object each time', async () => {
    const prefixed = prefixTools(files(), 'fs_')
    const [first, again] = [await prefixed.listTools(context), await prefixed.listTools(context)]
    expect(again[0]).toBe(first[0])
  })

  test('a passive tool stays passive', async () => {
    const passive: Tool = { name: 'p', description: '', declaration: () => undefined, run: () => 1 }
    const [made] = await prefixTools(new StaticToolset([passive]), 'x_').listTools(context)
    expect(made?.declaration()).toBeUndefined()
  })

  test('names that cannot be are refused', async () => {
    for (const prefix of ['two words', '1', 'adk_request_', 5 as never])
      expect(() => prefixTools(files(), prefix)).toThrow(ToolwrightError)
    const long = prefixTools(new StaticToolset([make('x'.repeat(128))]), 'w_')
    await expect(long.listTools(context)).rejects.toThrow(/cannot be a tool's name/)
  })
})

test('filters see the unprefixed name, inside and outside, and through policies', async () => {
  expect(await names(prefixTools(filterTools(files(), ['read']), 'fs_'))).toEqual(['fs_read'])
  expect(await names(filterTools(prefixTools(files(), 'fs_'), ['read']))).toEqual(['fs_read'])
  expect(await names(filterTools(prefixTools(prefixTools(files(), 'a_'), 'b_'), ['read']))).toEqual(['b_a_read'])
  const [prefixed] = await prefixTools(files(), 'fs_').listTools(context)
  const wrapped = new StaticToolset([cached(prefixed as Tool)])
  expect(await names(filterTools(wrapped, ['read']))).toEqual(['fs_read'])
})

test('the end of life is forwarded, and not invented', async () => {
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
