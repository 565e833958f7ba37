import { expectTypeOf, test } from 'vitest'
import type { FunctionDeclaration } from '../../core/content/content.ts'
import type { ReadonlyContext, ToolContext } from '../context/context.ts'
import type { Tool } from './tool.ts'

test('a class that implements Tool may declare the arguments of its schema in every method', () => {
  class DeleteFile implements Tool {
    readonly name = 'delete_file'
    readonly description = 'Delete a file'
    declaration(): FunctionDeclaration {
      return { name: this.name, description: this.description }
    }
    requiresConfirmation({ path }: { path: string }, _context: ReadonlyContext): boolean {
      return !path.startsWith('cache/')
    }
    confirmationHint({ path }: { path: string }): string {
      return `Delete ${path}?`
    }
    run({ path }: { path: string }, _context: ToolContext): string {
      return path
    }
  }
  expectTypeOf<DeleteFile>().toExtend<Tool>()
})

test('requiresConfirmation of a tool is a boolean or a function that returns one', () => {
  expectTypeOf<true>().toExtend<Tool['requiresConfirmation']>()
  expectTypeOf<(args: { path: string }) => Promise<boolean>>().toExtend<Tool['requiresConfirmation']>()
  expectTypeOf<(args: { path: string }) => string>().not.toExtend<Tool['requiresConfirmation']>()
  expectTypeOf<(args: string) => boolean>().not.toExtend<Tool['requiresConfirmation']>()
  expectTypeOf<'always'>().not.toExtend<Tool['requiresConfirmation']>()
})
