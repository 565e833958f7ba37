import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type typescript from 'typescript-classic'
import { ToolwrightError } from '../../../core/error/error.ts'

/** The classic API of the TypeScript compiler. TypeScript 7 does not have it. */
export type TypeScript = typeof typescript

/** A compiler that is installed. */
export interface FoundCompiler {
  /** Loads it, which takes a moment. */
  load(): TypeScript
}

/** Installs TypeScript 5 under a name of its own, also beside TypeScript 7. */
export const INSTALL_COMPILER = 'npm install --save-dev typescript-5@npm:typescript@5'

/**
 * Finds a compiler with the classic API: `typescript` if it is version 5 or 6, else `typescript-5`, else the one that
 * `ts-json-schema-generator` brings, which earlier versions asked for. Looks in the folder first, then beside this package.
 */
export function findCompiler(folder: string): FoundCompiler | undefined {
  for (const require of requiresOf(folder)) {
    const found =
      findClassic(require, 'typescript') ??
      findClassic(require, 'typescript-5') ??
      findClassic(requireOfGenerator(require), 'typescript')
    if (found) return found
  }
  return undefined
}

/** The error for a missing compiler. It names the version that cannot be used, if there is one. */
export function missingCompilerError(folder: string): ToolwrightError {
  const version = requiresOf(folder).flatMap((require) => versionOf(require, 'typescript') ?? [])[0]
  const found =
    version === undefined
      ? 'there is none'
      : `TypeScript ${version} of this project has no compiler API that programs can use`
  return new ToolwrightError(
    'MISSING_PEER',
    `Reading the types of plain functions needs a TypeScript compiler of version 5 or 6, but ${found}. Install TypeScript 5 under a name of its own: ${INSTALL_COMPILER}`,
  )
}

function requiresOf(folder: string): NodeJS.Require[] {
  return [createRequire(resolve(folder, 'package.json')), createRequire(import.meta.url)]
}

function requireOfGenerator(require: NodeJS.Require): NodeJS.Require | undefined {
  try {
    return createRequire(require.resolve('ts-json-schema-generator'))
  } catch {
    return undefined
  }
}

function findClassic(require: NodeJS.Require | undefined, name: string): FoundCompiler | undefined {
  if (!require) return undefined
  const major = Number.parseInt(versionOf(require, name) ?? '', 10)
  return major === 5 || major === 6 ? { load: () => require(name) as TypeScript } : undefined
}

function versionOf(require: NodeJS.Require, name: string): string | undefined {
  try {
    return (require(`${name}/package.json`) as { version: string }).version
  } catch {
    return undefined
  }
}
