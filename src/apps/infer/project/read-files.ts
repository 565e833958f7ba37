import type ts from 'typescript-classic'

/**
 * The files whose types a file reads: itself, its imports, theirs, and the declaration files of the project, which may declare global
 * types. Files of packages are left out.
 */
export function readFiles(program: ts.Program, source: ts.SourceFile): string[] {
  const declarations = program
    .getSourceFiles()
    .filter((one) => one.isDeclarationFile && !program.isSourceFileDefaultLibrary(one))
    .map(({ fileName }) => fileName)
  const all = new Set([...importedFiles(program, source), ...declarations])
  return [...all].filter((name) => !name.includes('/node_modules/'))
}

/** A file and everything that it imports, packages included, except for the library of the compiler. */
function importedFiles(program: ts.Program, source: ts.SourceFile): Set<string> {
  const found = new Set([source.fileName])
  const open = [source]
  for (let file = open.pop(); file; file = open.pop()) {
    for (const target of directImports(program, file)) {
      if (found.has(target.fileName)) continue
      found.add(target.fileName)
      open.push(target)
    }
  }
  return found
}

const imports = new WeakMap<ts.Program, Map<ts.SourceFile, readonly ts.SourceFile[]>>()

/** The files that a file imports. Remembered for each program, because many files are read with one program. */
function directImports(program: ts.Program, file: ts.SourceFile): readonly ts.SourceFile[] {
  const known = imports.get(program) ?? new Map<ts.SourceFile, readonly ts.SourceFile[]>()
  imports.set(program, known)
  let targets = known.get(file)
  if (!targets) {
    const checker = program.getTypeChecker()
    const declared = specifiersOf(file).flatMap((node) => checker.getSymbolAtLocation(node)?.declarations ?? [])
    targets = [...new Set(declared.map((node) => node.getSourceFile()))]
    known.set(file, targets)
  }
  return targets
}

/** The module specifiers of a file. The compiler collects them, also from `import()` types, but its types do not show them. */
export function specifiersOf(file: ts.SourceFile): readonly ts.StringLiteralLike[] {
  return (file as { imports?: readonly ts.StringLiteralLike[] }).imports ?? []
}
