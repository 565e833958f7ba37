import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type typescript from 'typescript-classic'
import { ToolwrightError } from '../../error/error.ts'

/** The classic API of the TypeScript compiler. TypeScript 7 does not have it. */
export type TypeScript = typeof typescript

/** A compiler that is installed. */
export interface FoundCompiler {
  /** Loads it, which takes a moment. */
  load(): TypeScript
}

/**
 * Finds a compiler with the classic API: the `typescript` of the project if it is version 5 or 6, else the one that
 * `ts-json-schema-generator` brings. Looks in the folder first, then beside this package.
 */
export function findCompiler(folder: string): FoundCompiler | undefined {
  for (const from of [resolve(folder, 'package.json'), import.meta.url]) {
    const require = createRequire(from)
    const found = findClassic(require) ?? findClassic(requireOfGenerator(require))
    if (found) return found
  }
  return undefined
}

/** The error for a missing compiler. */
export function missingCompilerError(): ToolwrightError {
  return new ToolwrightError(
    'MISSING_PEER',
    'Reading the types of plain functions needs a TypeScript compiler with the classic API, which TypeScript 7 does not have. Install one: npm install --save-dev ts-json-schema-generator',
  )
}

function requireOfGenerator(require: NodeJS.Require): NodeJS.Require | undefined {
  try {
    return createRequire(require.resolve('ts-json-schema-generator'))
  } catch {
    return undefined
  }
}

function findClassic(require: NodeJS.Require | undefined): FoundCompiler | undefined {
  if (!require) return undefined
  try {
    const { version } = require('typescript/package.json') as { version: string }
    const major = Number.parseInt(version, 10)
    return major === 5 || major === 6 ? { load: () => require('typescript') as TypeScript } : undefined
  } catch {
    return undefined
  }
}
