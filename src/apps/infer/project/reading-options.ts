import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** The compiler options of a project, with those that reading types needs, whatever the project says. */
export function readingOptions(ts: TypeScript, options: ts.CompilerOptions): ts.CompilerOptions {
  return {
    ...options,
    ...resolution(ts, options),
    noEmit: true,
    noResolve: false,
    allowJs: true, // types in doc comments of JavaScript
    maxNodeModuleJsDepth: 0,
    strictNullChecks: true, // without it, null and undefined vanish from types
    skipLibCheck: true,
    // the output of the project is not used
    ...(options.composite && { composite: false, incremental: false }),
  }
}

/** The compiler options of files without a tsconfig.json. */
export function defaultOptions(ts: TypeScript): ts.CompilerOptions {
  return readingOptions(ts, { target: ts.ScriptTarget.ES2023, strict: true })
}

/**
 * How modules are found. Version 5 falls back to ways that do not know `exports` in package.json, which this package and many others
 * need. Version 7 does not have them: without other settings it looks modules up like a bundler.
 */
function resolution(ts: TypeScript, { module, moduleResolution }: ts.CompilerOptions): ts.CompilerOptions {
  const { Classic, Node10, Bundler } = ts.ModuleResolutionKind
  const isOutdated = moduleResolution === undefined || moduleResolution === Classic || moduleResolution === Node10
  const { Node16, NodeNext, ES2015, ESNext } = ts.ModuleKind
  const isNode = module !== undefined && module >= Node16 && module <= NodeNext
  if (!isOutdated || isNode) return {}
  return { module: module === undefined || module < ES2015 ? ESNext : module, moduleResolution: Bundler }
}
